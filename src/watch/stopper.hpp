#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "base/time.hpp"
#include "core/ids.hpp"
#include "core/leftover.hpp"

namespace knell {

/// A process that is held: a signal reaches it or nobody.
class HeldProcess {
  public:
    virtual ~HeldProcess() = default;
    virtual bool has_ended() const = 0;
    /// 0, or the errno that says why it was not sent.
    virtual int signal(int number) = 0;
    /// On whose behalf it runs; nothing when that cannot be told.
    virtual std::optional<uid_t> uid() const = 0;
};

enum class NotHeld : std::uint8_t {
    gone,        // it is proven not to run any more
    unreachable  // it cannot be held now: no descriptor, no pidfd, another namespace
};

/// What stopping needs of the system.  A test or a simulator may invent it.
class ProcessHolder {
  public:
    virtual ~ProcessHolder() = default;
    /// Exactly this process: same boot, same pid namespace, same start.
    virtual std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const = 0;
    /// It owns an open session, or something below it does: then it is not to be signalled,
    /// whatever it was found to be before.
    virtual bool is_spared(const ProcessIdentity& process) const = 0;
};

/// What one session's command left behind, to be stopped.
struct StopOrder {
    SessionId session_id;
    Generation generation = 0;
    std::vector<Leftover> leftovers;  // those whose fate is `stopping`, and others to be passed on
};

/// Stops leftovers: SIGTERM, and SIGKILL to what still runs after a grace.  Each goes through
///
///   asked to be stopped ─▶ held ─▶ SIGTERM sent ─▶ SIGKILL sent ─▶ settled
///
/// and is settled early when it has ended, or cannot be held before its time is up, or must not be
/// signalled.  Nothing is signalled without being held, and the question whether it may be is asked
/// again before each signal.
///
/// Pure but for its ProcessHolder: time is handed in, a step takes no longer than its looks.  The
/// time that counts is the one in which processes can run, so that a host that sleeps after the
/// SIGTERM does not wake up to the SIGKILL.
class Stopper {
  public:
    static constexpr std::chrono::seconds term_grace{5};
    static constexpr std::chrono::seconds kill_grace{5};  // then it is left, being unkillable

    explicit Stopper(const ProcessHolder& processes) : processes_(processes) {}

    void add(StopOrder order, SteadyTime now);
    /// Gives the orders that are done, each once, with the fate of every leftover.
    std::vector<StopOrder> step(SteadyTime now);
    bool is_idle() const { return jobs_.empty(); }

  private:
    enum class Phase : std::uint8_t { asked, terminated, killed };
    struct Target {
        std::size_t place = 0;  // in the order
        Phase phase = Phase::asked;
        std::unique_ptr<HeldProcess> held;
        SteadyTime until;  // of the phase
    };
    struct Job {
        StopOrder order;
        std::vector<Target> targets;
    };

    /// Its fate, once that is known.
    Fate advance(Target& target, const Leftover& leftover, SteadyTime now) const;

    const ProcessHolder& processes_;
    std::vector<Job> jobs_;
};

}  // namespace knell
