#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/leftover.hpp"
#include "watch/stopper.hpp"

namespace knell {

/// Ends the processes that keep sessions, where a person has asked for that.  Each goes through
///
///   asked ─▶ held ─▶ SIGTERM, SIGCONT ─▶ after a grace: SIGKILL ─▶ done
///
/// and is done early when it has ended, or must not or cannot be signalled.  Only the process
/// itself is signalled: what it started is dealt with when it is gone, as its session says.
///
/// Nothing is signalled without being held, nor once it owns no open session any more; that is
/// asked again before each signal.
///
/// A step, not a wait: the caller brings the time, that in which processes can run.  One thread.
class OwnerStopper {
  public:
    using IsOwner = std::function<bool(const ProcessIdentity&)>;
    OwnerStopper(const ProcessHolder& holder, IsOwner is_owner)
        : holder_(holder), is_owner_(std::move(is_owner)) {}

    struct Stopped {
        Fate fate = Fate::gone;  // gone, stopped, killed or left
        std::string why_left{};  // in words; "" unless its fate is `left`
    };
    using Done = std::move_only_function<void(Stopped)>;

    /// One that is being stopped already is asked no second time; both hear how it went.
    void add(ProcessIdentity process, Done done, SteadyTime now);
    /// Tells those that are done.
    void step(SteadyTime now);
    bool is_idle() const { return jobs_.empty(); }

  private:
    enum class Phase : std::uint8_t { asked, terminated, killed };
    struct Job {
        ProcessIdentity process;
        std::vector<Done> done;
        Phase phase = Phase::asked;
        SteadyTime until{};  // of the phase
        std::unique_ptr<HeldProcess> held{};
    };

    std::optional<Stopped> advance(Job& job, SteadyTime now) const;
    std::optional<Stopped> signal(Job& job, SteadyTime now) const;

    const ProcessHolder& holder_;
    const IsOwner is_owner_;
    std::vector<Job> jobs_;
};

}  // namespace knell
