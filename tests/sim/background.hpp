#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/background_process.hpp"
#include "engine/effect.hpp"
#include "engine/input.hpp"
#include "host.hpp"
#include "leftovers.hpp"
#include "watch/watch_list.hpp"

namespace knell::sim {

/// What the daemon's thread for background processes does, without the thread: gates, the real list
/// of those that are watched, and looks at what they do.  With the daemon its gates close, and what
/// waits at one ends without having executed anything.
class Background final : public WatchList::Holder {
  public:
    struct Tell {
        HostHolder::OnSignal signal;
        /// Its gate is open: it executes its program now, or fails to.
        std::function<void(Host::Process&)> execute;
    };
    Background(Host& host, const ProcessIdentity& daemon, Tell tell);
    ~Background() override;
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    /// A child that waits at its gate; nullptr when there are too many.
    Host::Process* fork(const ProcessId& id);
    /// It is not to run.
    void close_gate(const ProcessId& id);

    void carry_out(const WatchProcess& effect);
    void carry_out(const UnwatchProcess& effect);
    void carry_out(const OpenGate& effect);

    /// One round of the thread: what has ended, and what the others do.
    void look();
    /// What there is to say by now.
    std::vector<Input> step();
    bool has_words() const { return !words_.empty(); }
    /// The thread is held up until then.
    void stall_until(Host::Duration time) { goes_on_at_ = time; }
    /// What ends next it will tell twice.
    void stutter() { stutters_ = true; }
    const WatchList& watching() const { return watching_; }
    /// Until then the end of any of them would have been told.  For one that cannot be looked at
    /// nobody can say that.
    SteadyTime proven_until() const { return proven_until_; }

    bool hold(WatchList::Number number, const ProcessIdentity& process, Fd&& pidfd) override;
    void release(WatchList::Number number) override { held_.erase(number); }

    /// So many may run: few, so that these limits are met.
    static constexpr std::size_t per_session_max = 3;
    static constexpr std::size_t node_max = 8;
    /// So long one may do nothing before that is told.
    static constexpr std::chrono::seconds stale_after{20};

  private:
    struct Sampled {
        ProcessIdentity process;
        ProcessActivity activity = ProcessActivity::working;
        bool stale = false;
    };
    void tell_gone(const ProcessIdentity& process, Departure departure);
    void sample();

    Host& host_;
    const ProcessIdentity daemon_;
    const Tell tell_;
    WatchList watching_;
    std::map<WatchList::Number, ProcessIdentity> held_;
    std::map<ProcessId, ProcessIdentity> gates_;
    std::map<ProcessId, Sampled> sampled_;
    Host::Duration goes_on_at_{0};
    bool stutters_ = false;
    SteadyTime proven_until_{};
    std::vector<Input> words_;
};

}  // namespace knell::sim
