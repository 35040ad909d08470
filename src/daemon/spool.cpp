#include "daemon/spool.hpp"

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "daemon/spool_file.hpp"
#include "daemon/spool_text.hpp"
#include "platform/log.hpp"

namespace knell {

namespace {

void set_aside_and_say(const std::string& path, std::string_view why) {
    const auto bad = set_aside(path);
    log_error("cannot take in {}: {}; {}", path, why,
              bad ? "kept as " + *bad : bad.error().message);
}

/// A spool file under way, one call after another: what a close is meant for shows in the answer to
/// the create before it.  A create and the close after it are one call: the owner is long gone, and
/// between two calls somebody would find that out.  Locked while this exists, so that `knell run`
/// cannot add a line between our reading and our deleting.
///
/// Each call's answer holds it until the last one.
class Intake : public std::enable_shared_from_this<Intake> {
  public:
    Intake(std::string path, Fd lock, std::vector<Command> commands, rpc::Backend& backend,
           std::function<void()> done)
        : path_(std::move(path)),
          lock_(std::move(lock)),
          commands_(std::move(commands)),
          backend_(backend),
          done_(std::move(done)) {}

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
            if (!owner_) return give_up("nothing shows whose session is to be closed");
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
            log_warn("{} stays for now: {}", path_, reply.error().message);
            finish();
        } else {
            give_up(reply.error().message);
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

    void settle() {
        if (unlink(path_.c_str()) != 0) {
            log_warn("cannot delete delivered {}: {}", path_,
                     std::generic_category().message(errno));
        } else if (commands_.empty()) {
            log_info("deleted {}: it is empty", path_);
        } else {
            log_info("took in {}: written while no daemon could be reached", path_);
        }
        finish();
    }

    void give_up(std::string_view why) {
        set_aside_and_say(path_, why);
        finish();
    }

    void finish() {
        lock_.reset();
        done_();
    }

    const std::string path_;
    Fd lock_;
    std::vector<Command> commands_;
    rpc::Backend& backend_;
    const std::function<void()> done_;
    std::size_t next_ = 0;
    bool resumes_ = false;  // the create stands for the next life of a session that ended
    std::optional<ProcessIdentity> owner_;  // of the last create
};

/// What became of a file on the read thread.
struct Loaded {
    Fd lock;
    std::vector<Command> commands;
    std::string problem;  // why it can never be taken in
};

std::optional<Loaded> load_file(const std::string& path, rpc::Backend& backend) {
    auto file = open_spool_file(path);
    if (!file) return Loaded{{}, {}, file.error().message};
    if (!*file) return std::nullopt;
    auto commands = parse_spool((*file)->text, backend);
    if (!commands) return Loaded{std::move((*file)->lock), {}, commands.error().message};
    // Deleting it as delivered would hide that a run left a record nobody has.
    if (commands->empty() && !(*file)->text.empty()) {
        return Loaded{std::move((*file)->lock), {}, "it holds no whole line"};
    }
    return Loaded{std::move((*file)->lock), std::move(*commands), {}};
}

}  // namespace

void SpoolIntake::look() {
    if (looking_ || under_way_ > 0) return;
    looking_ = true;
    auto found = std::make_shared<std::vector<std::string>>();
    backend_.read(
        rpc::ConnectionId::none,
        [found, this](Reader&) -> Result<Json> {
            *found = find_spool_files(spool_dir_);
            return Json{};
        },
        [found, this](const Result<Json>&) {
            looking_ = false;
            waiting_.assign(found->begin(), found->end());
            advance();
        });
}

void SpoolIntake::advance() {
    while (under_way_ < limits::spool_files_at_once_max && !waiting_.empty()) {
        const auto path = std::move(waiting_.front());
        waiting_.pop_front();
        ++under_way_;
        load(path);
    }
}

void SpoolIntake::load(const std::string& path) {
    auto loaded = std::make_shared<std::optional<Loaded>>();
    backend_.read(
        rpc::ConnectionId::none,
        [loaded, path, this](Reader&) -> Result<Json> {
            *loaded = load_file(path, backend_);
            return Json{};
        },
        [loaded, path, this](const Result<Json>& read) {
            // Too much else is to be read: the next look will find them again.
            if (!read) waiting_.clear();
            if (!*loaded) return finish_one();
            auto& [lock, commands, problem] = **loaded;
            if (!problem.empty()) {
                set_aside_and_say(path, problem);
                return finish_one();
            }
            std::make_shared<Intake>(path, std::move(lock), std::move(commands), backend_, [this] {
                finish_one();
            })->go_on();
        });
}

void SpoolIntake::finish_one() {
    --under_way_;
    advance();
}

}  // namespace knell
