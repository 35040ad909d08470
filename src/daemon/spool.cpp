#include "daemon/spool.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/spool_file.hpp"
#include "daemon/spool_load.hpp"
#include "platform/log.hpp"
#include "writer/spool_replay.hpp"

namespace knell {

namespace {

/// A spool file under way.  Locked while this exists, so that `knell run` cannot add a line between
/// our reading and our deleting.
///
/// Each call's answer holds it until the last one.
class Intake : public std::enable_shared_from_this<Intake> {
  public:
    Intake(std::string path, Fd lock, std::vector<Command> commands, rpc::Backend& backend,
           std::function<void(const std::string& why_it_stays)> done)
        : path_(std::move(path)),
          lock_(std::move(lock)),
          replay_(std::move(commands)),
          backend_(backend),
          done_(std::move(done)) {}

    void go_on() {
        auto next = replay_.next();
        if (auto* command = std::get_if<Command>(&next)) {
            submit(std::move(*command));
        } else if (const auto* later = std::get_if<SpoolReplay::Later>(&next)) {
            finish(later->why);
        } else if (const auto* never = std::get_if<SpoolReplay::Never>(&next)) {
            set_aside_and_say(path_, never->why);
            finish("");
        } else {
            settle();
        }
    }

  private:
    void submit(Command&& command) {
        backend_.submit(std::move(command), [self = shared_from_this()](Result<Reply> reply) {
            self->replay_.take(reply);
            self->go_on();
        });
    }

    void settle() {
        delete_delivered(path_, replay_);
        finish("");
    }

    void finish(const std::string& why_it_stays) {
        lock_.reset();
        done_(why_it_stays);
    }

    const std::string path_;
    Fd lock_;
    SpoolReplay replay_;
    rpc::Backend& backend_;
    const std::function<void(const std::string& why_it_stays)> done_;
};

}  // namespace

void SpoolIntake::look(std::move_only_function<void()> then) {
    waiting_for_next_.push_back(std::move(then));
    look();
}

void SpoolIntake::look() {
    if (looking_ || under_way_ > 0) return;
    waiting_for_this_ = std::exchange(waiting_for_next_, {});
    looking_ = true;
    auto found = std::make_shared<std::vector<std::string>>();
    read_unasked(
        backend_, [found, this](Reader&) { *found = find_spool_files(spool_dir_); },
        [found, this](bool) {
            looking_ = false;
            said_before_ = std::exchange(said_, {});
            waiting_.assign(found->begin(), found->end());
            advance();
            settle_look();
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
    auto loaded = std::make_shared<std::optional<LoadedSpool>>();
    read_unasked(
        backend_, [loaded, path, this](Reader&) { *loaded = load_spool(path, backend_); },
        [loaded, path, this](bool was_read) {
            // Too much else is to be read: the next look will find them again.
            if (!was_read) waiting_.clear();
            if (!*loaded) return finish_one();
            auto& [lock, commands, problem] = **loaded;
            if (!problem.empty()) {
                set_aside_and_say(path, problem);
                return finish_one();
            }
            const auto done = [this, path](const std::string& why_it_stays) {
                say_why_it_stays(path, why_it_stays);
                finish_one();
            };
            std::make_shared<Intake>(path, std::move(lock), std::move(commands), backend_, done)
                ->go_on();
        });
}

/// Once, not at each look: a run that waits for another one under its id may wait for days.
void SpoolIntake::say_why_it_stays(const std::string& path, const std::string& why) {
    if (why.empty()) return;
    const auto before = said_before_.find(path);
    if (before == said_before_.end() || before->second != why) {
        log_warn("{} stays for now: {}", path, why);
    }
    said_[path] = why;
}

void SpoolIntake::finish_one() {
    --under_way_;
    advance();
    settle_look();
}

void SpoolIntake::settle_look() {
    if (looking_ || under_way_ > 0) return;
    for (auto& then : std::exchange(waiting_for_this_, {})) then();
    if (!waiting_for_next_.empty()) look();
}

}  // namespace knell
