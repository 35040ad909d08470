#include "daemon/spool.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "daemon/spool_text.hpp"
#include "platform/fd.hpp"
#include "platform/log.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

void set_aside(const fs::path& path, std::string_view why) {
    auto bad = path;
    bad += ".bad";
    std::error_code error;
    fs::rename(path, bad, error);
    log_error("cannot take in {}: {}; {}", path.string(), why,
              error ? "and it cannot be renamed: " + error.message() : "kept as " + bad.string());
}

/// A spool file under way, one call after another: what a close is meant for shows in the answer to
/// the create before it.  A create and the close after it are one call: the owner is long gone, and
/// between two calls somebody would find that out.  Locked while this exists, so that `knell run`
/// cannot add a line between our reading and our deleting.
///
/// Each call's answer holds it until the last one.
class Intake : public std::enable_shared_from_this<Intake> {
  public:
    Intake(fs::path path, Fd lock, std::vector<Command> commands, rpc::Backend& backend)
        : path_(std::move(path)),
          lock_(std::move(lock)),
          commands_(std::move(commands)),
          backend_(backend) {}

    void go_on() {
        if (next_ == commands_.size()) return settle();
        while (is_said_again(next_)) ++next_;
        auto& command = commands_[next_];
        if (auto* create = std::get_if<Create>(&command)) {
            owner_ = create->draft.owner.process;
            create->and_close = close_after(next_);
            if (resumes_) return submit(as_resume(std::move(*create)));
            return submit(Command{*create});
        }
        if (auto* close = std::get_if<Close>(&command); !close->generation) {
            if (!owner_) return set_aside(path_, "nothing shows whose session is to be closed");
            close->generation = 1;
        }
        submit(std::move(command));
    }

  private:
    void submit(Command&& command) {
        backend_.submit(std::move(command),
                        [self = shared_from_this()](Result<Reply> reply) { self->take(reply); });
    }

    void take(const Result<Reply>& reply) {
        if (reply) {
            // What was opened and closed at once needs no close of its own.
            const bool opened = std::holds_alternative<OpenedReply>(*reply);
            next_ += opened && close_after(next_) ? 2 : 1;
            go_on();
        } else if (is_on_record(reply.error())) {
            ++next_;
            go_on();
        } else if (reply.error().code == ErrorCode::ended && !resumes_) {
            resumes_ = true;  // an earlier life under the same id: this is the next one
            go_on();
        } else if (may_pass(reply.error().code)) {
            log_warn("{} stays for now: {}", path_.string(), reply.error().message);
        } else {
            set_aside(path_, reply.error().message);
        }
    }

    static bool may_pass(ErrorCode code) {
        return code == ErrorCode::storage || code == ErrorCode::limit ||
               code == ErrorCode::internal;
    }

    /// It was delivered before, in part or whole: the session in the way of a create is the very
    /// one.  Or somebody took the session over since, and its end is theirs to tell.
    bool is_on_record(const Error& error) const {
        if (error.code == ErrorCode::fenced) return true;
        if (const auto* owned = std::get_if<OwnedBy>(&error.facts)) {
            return owned->generation == 1 && is_owner(owned->owner.process);
        }
        const auto* ended = std::get_if<EndedAs>(&error.facts);
        return ended != nullptr && is_owner(ended->process);
    }

    /// Of another namespace its pid was translated while it lived, and cannot be any more.
    bool is_owner(const ProcessIdentity& process) const {
        if (process.start_ticks != owner_->start_ticks) return false;
        return process.pid == owner_->pid || process.pid_namespace != owner_->pid_namespace;
    }

    /// `knell run` writes the create when it starts and, if no daemon came meanwhile, once more
    /// with the close.  Only the last of them has its close right behind it.
    bool is_said_again(std::size_t place) const {
        if (place + 1 >= commands_.size()) return false;
        const auto* create = std::get_if<Create>(&commands_[place]);
        const auto* next = std::get_if<Create>(&commands_[place + 1]);
        // The same process may have ended between the two translations of its pid.
        return create != nullptr && next != nullptr &&
               create->draft.owner.process.start_ticks == next->draft.owner.process.start_ticks;
    }

    std::optional<Close> close_after(std::size_t place) const {
        if (place + 1 >= commands_.size()) return std::nullopt;
        const auto* close = std::get_if<Close>(&commands_[place + 1]);
        return close == nullptr ? std::nullopt : std::optional(*close);
    }

    static Command as_resume(Create&& create) {
        Resume resume;
        resume.session_id = create.draft.id;
        resume.owner = create.draft.owner;
        resume.leftovers = create.draft.leftovers;
        resume.said_by = "knell run, spooled while no daemon could be reached";
        resume.at = create.at;
        resume.and_close = std::move(create.and_close);
        return resume;
    }

    void settle() const {
        std::error_code error;
        fs::remove(path_, error);
        if (error) {
            log_warn("cannot delete delivered {}: {}", path_.string(), error.message());
        } else {
            log_info("took in {}: written while no daemon could be reached", path_.string());
        }
    }

    const fs::path path_;
    const Fd lock_;
    std::vector<Command> commands_;
    rpc::Backend& backend_;
    std::size_t next_ = 0;
    bool resumes_ = false;  // the create stands for the next life of a session that ended
    std::optional<ProcessIdentity> owner_;  // of the last create
};

void deliver_file(const fs::path& path, rpc::Backend& backend) {
    Fd lock{open(path.c_str(), O_RDWR | O_CLOEXEC)};
    if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
    const auto text = read_small_file(path.string());
    if (!text) return;
    auto commands = parse_spool(*text, backend);
    if (!commands) return set_aside(path, commands.error().message);
    std::make_shared<Intake>(path, std::move(lock), std::move(*commands), backend)->go_on();
}

}  // namespace

void deliver_spool(const std::string& spool_dir, rpc::Backend& backend) {
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(spool_dir, error)) {
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    for (const auto& path : files) deliver_file(path, backend);
}

}  // namespace knell
