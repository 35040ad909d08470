#pragma once

#include <functional>
#include <string>

#include <sys/types.h>

#include "platform/fd.hpp"
#include "platform/paths.hpp"

namespace knell::testing {

/// The paths of a home in `folder`: everything in it, as under KNELL_HOME.
Paths paths_in(const std::string& folder);

/// A process that holds the lock of a home and, if it is to, listens at its socket: what a client
/// takes for a daemon.  Killed and waited for when this goes.
class FakeDaemon {
  public:
    struct Manners {
        bool listens = true;
        std::string home;                 // as node.status tells it
        bool knows_its_status = true;     // else it answers with an error
        bool stops = true;                // when asked to, instead of answering
        std::string answer_to_stop = {};  // the rest of the line, such as "result":{}
        bool heeds_sigterm = true;
        std::string says_it_listens_at = {};  // in the lock; "": where it does
        /// The rest of the line that answers any other call; "": as to node.status.
        std::function<std::string(const std::string& call)> answer = {};
    };
    /// It is there when this returns.
    FakeDaemon(const Paths& paths, Manners manners);
    FakeDaemon(const FakeDaemon&) = delete;
    FakeDaemon& operator=(const FakeDaemon&) = delete;
    ~FakeDaemon();

    pid_t pid() const { return pid_; }
    bool is_running() const;
    /// For one that is on its way: the kernel closes its files before it is dead.
    void wait_until_dead() const;

  private:
    [[noreturn]] static void live(const Paths& paths, const Manners& manners, int ready);

    pid_t pid_ = -1;
};

}  // namespace knell::testing
