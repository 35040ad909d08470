#include "writer/spool_replay.hpp"

#include <algorithm>

namespace knell {

namespace {

/// A run whose id another one holds is the next life under that id once the other is over.
bool may_pass(ErrorCode code) {
    return code == ErrorCode::storage || code == ErrorCode::limit || code == ErrorCode::internal ||
           code == ErrorCode::owned;
}

Command as_resume(Create&& create) {
    Resume resume;
    resume.session_id = create.draft.id;
    resume.owner = create.draft.owner;
    resume.title = create.draft.title;
    resume.cwd = create.draft.cwd;
    resume.leftovers = create.draft.leftovers;
    resume.said_by = "knell run, spooled while no daemon could be reached";
    resume.at = create.at;
    resume.and_close = std::move(create.and_close);
    return resume;
}

}  // namespace

SpoolReplay::Next SpoolReplay::next() {
    if (auto* later = std::get_if<Later>(&verdict_)) return *later;
    if (auto* never = std::get_if<Never>(&verdict_)) return *never;
    if (next_ == commands_.size()) return Delivered{};
    while (is_said_again(next_)) ++next_;
    auto command = commands_[next_];
    if (auto* create = std::get_if<Create>(&command)) {
        owner_ = create->draft.owner.process;
        create->and_close = close_after(next_);
        if (resumes_) return as_resume(std::move(*create));
        return command;
    }
    if (auto* close = std::get_if<Close>(&command); !close->generation) {
        if (!owner_) return Never{"nothing shows whose session is to be closed"};
        close->generation = generation_;
    }
    return command;
}

void SpoolReplay::take(const Result<Reply>& reply) {
    if (reply) {
        // What was opened and closed at once needs no close of its own.
        const auto* opened = std::get_if<OpenedReply>(&*reply);
        if (opened != nullptr) generation_ = opened->generation;
        next_ += opened != nullptr && close_after(next_) ? 2 : 1;
    } else if (const auto generation = generation_on_record(reply.error())) {
        generation_ = *generation;
        ++next_;
    } else if (reply.error().code == ErrorCode::ended && !resumes_) {
        resumes_ = true;  // an earlier life under the same id: this is the next one
    } else if (may_pass(reply.error().code)) {
        verdict_ = Later{reply.error().message};
    } else {
        verdict_ = Never{reply.error().message};
    }
}

/// It was delivered before, in part or whole: the session in the way of a create is the very one,
/// or a later life of it.  Or somebody took the session over since, and its end is theirs to tell.
std::optional<Generation> SpoolReplay::generation_on_record(const Error& error) const {
    if (error.code == ErrorCode::fenced) return generation_;
    const auto find = [&](const ProcessIdentity& last, Generation generation,
                          const std::vector<ProcessIdentity>& former) -> std::optional<Generation> {
        if (is_owner(last)) return generation;
        const bool was_ours =
            std::ranges::any_of(former, [&](const auto& process) { return is_owner(process); });
        // Which of the earlier ones it was does not matter: its close is fenced.
        return was_ours ? std::optional<Generation>(0) : std::nullopt;
    };
    if (const auto* owned = std::get_if<OwnedBy>(&error.facts)) {
        return find(owned->owner.process, owned->generation, owned->former_owners);
    }
    const auto* ended = std::get_if<EndedAs>(&error.facts);
    if (ended == nullptr) return std::nullopt;
    return find(ended->process, ended->generation, ended->former_owners);
}

/// Of another namespace its pid was translated while it lived, and cannot be any more.
bool SpoolReplay::is_owner(const ProcessIdentity& process) const {
    if (process.start_ticks != owner_->start_ticks) return false;
    return process.pid == owner_->pid || process.pid_namespace != owner_->pid_namespace;
}

/// `knell run` writes the create when it starts and, if no daemon came meanwhile, once more with
/// the close.  Only the last of them has its close right behind it.
bool SpoolReplay::is_said_again(std::size_t place) const {
    if (place + 1 >= commands_.size()) return false;
    const auto* create = std::get_if<Create>(&commands_[place]);
    const auto* next = std::get_if<Create>(&commands_[place + 1]);
    // The same process may have ended between the two translations of its pid.
    return create != nullptr && next != nullptr &&
           create->draft.owner.process.start_ticks == next->draft.owner.process.start_ticks;
}

std::optional<Close> SpoolReplay::close_after(std::size_t place) const {
    if (place + 1 >= commands_.size()) return std::nullopt;
    const auto* close = std::get_if<Close>(&commands_[place + 1]);
    return close == nullptr ? std::nullopt : std::optional(*close);
}

}  // namespace knell
