#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {

/// A shell that does what it is told, line by line: an owner whose end a test decides.
class Puppet {
  public:
    explicit Puppet(Environment environment = {});

    pid_t pid() const { return shell_->pid(); }
    void tell(const std::string& line);
    /// Tells it and reads one line of what it says to that.
    std::string ask(const std::string& line);
    /// The same for a number, usually a pid.
    pid_t ask_pid(const std::string& line);
    void signal(int number) const { shell_->signal(number); }
    void freeze() const { shell_->freeze(); }
    int wait() { return shell_->wait(); }
    void become_zombie() const { shell_->become_zombie(); }

  private:
    Pipe in_;
    Pipe out_;
    std::string said_;
    std::optional<Process> shell_;
};

/// A process that does nothing at all.
Process idle_process();

/// True while a process with this pid runs; a zombie does not.
bool is_running(pid_t pid);

/// A process that is nobody's child here: killed when this goes, if it is still the same one.
class Stray {
  public:
    explicit Stray(pid_t pid);
    Stray(Stray&&) = default;
    ~Stray();

    pid_t pid() const { return pid_; }
    bool is_running() const;
    void kill() const;
    void wait_until_gone() const;

  private:
    pid_t pid_;
    Fd pidfd_;
};

/// A daemon, and sessions of processes that will die.
class WithOwners : public WithDaemon {
  protected:
    /// A session `id` of the process; `more` is put into the call, such as R"("title":"t")".
    void own(const std::string& id, pid_t owner, const std::string& more = {});
    bool is_open(const std::string& id) { return text(show(id), "status") != "ended"; }
    /// Waits until the session has ended and gives it.
    Json ended(const std::string& id);
    void expect_end(const std::string& id, std::string_view reason, std::string_view detail);
    /// The same of an owner that somebody waits for: where its status goes with it (world.hpp), it
    /// may be lost, but never be another.
    void expect_end_of_reaped(const std::string& id, std::string_view reason,
                              std::string_view detail);
    /// How many events of that type there are.
    std::size_t count_events(std::string_view type);

    /// Asks again and again, listening to the daemon in between, until it is so.
    template <typename Condition>
    void until(Condition&& condition, const char* what) {
        for (int tries = 0; tries < tries_max; ++tries) {
            if (condition()) return;
            daemon.listen();
        }
        throw std::runtime_error(std::string("waited in vain for ") + what +
                                 "; the daemon's log:\n" + daemon.log());
    }
    /// All that was observed before this call has been decided when it returns: a process that
    /// dies now is reported behind it, on the same way.
    void let_observers_speak();
    /// After a restart.
    void reconnect() { client = Client(home.socket()); }

  private:
    static constexpr int tries_max = 3000;
    int barriers_ = 0;
};

/// Bounds in order: ended_after <= ended_at <= ended_before.
void expect_ordered_bounds(const Json& session);

}  // namespace knell::functional
