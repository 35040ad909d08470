#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "background/stop_orders.hpp"
#include "host.hpp"
#include "watch/leftover_look.hpp"
#include "watch/live_owners.hpp"
#include "watch/process_tree.hpp"
#include "writer/leftover_finder.hpp"
#include "writer/write_step.hpp"

namespace knell::sim {

/// The processes of a host as /proc would show them.
class HostTree final : public ProcessTree {
  public:
    static inline const std::string socket_path = "knell.sock";
    explicit HostTree(const Host& host) : host_(host) {}
    const std::string& boot_id() const override { return host_.boot_id(); }
    std::uint64_t pid_namespace() const override { return host_.own_pid_namespace(); }
    std::vector<pid_t> pids() const override;
    std::optional<ProcStat> stat(pid_t pid) const override;
    std::optional<std::vector<pid_t>> children(pid_t pid) const override;
    std::optional<std::string> environment(pid_t pid) const override;
    std::string command_line(pid_t) const override { return "simulated"; }
    std::optional<Sockets> sockets(pid_t pid) const override;
    /// What waits at a gate still runs the daemon's program.
    bool is_knell(pid_t pid) const override;
    bool is_same_file(const std::string& one, const std::string& other) const override {
        return one == other;
    }

  private:
    const Host& host_;
};

/// Holds processes of a host, so that they can be signalled.
class HostHolder final : public ProcessHolder {
  public:
    /// Somebody is signalled: what that does, and whether it was right, is not decided here.
    using OnSignal = std::function<void(const ProcessIdentity&, int number)>;
    HostHolder(const Host& host, const ProcessTree& tree, const LiveOwners& owners,
               OnSignal on_signal)
        : host_(host), tree_(tree), owners_(owners), on_signal_(std::move(on_signal)) {}

    std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const override;
    bool is_spared(const ProcessIdentity& process) const override;

  private:
    class Held;

    const Host& host_;
    const ProcessTree& tree_;
    const LiveOwners& owners_;
    const OnSignal on_signal_;
};

/// What the daemon's thread for leftovers does, without the thread: the real search and the real
/// stopper, on a host that exists only in memory.
class Leftovers final : public LeftoverFinder {
  public:
    using OnSignal = HostHolder::OnSignal;
    Leftovers(Host& host, OnSignal on_signal);

    void protect(const ProcessIdentity& owner) override { owners_.add(owner); }
    void unprotect(const ProcessIdentity& owner) { owners_.remove(owner); }
    std::vector<FoundLeftovers> find(const FindLeftovers& what) override;
    void look(const FindLeftovers& what);
    void stop(StopLeftovers&& what);
    void stop(StopTree&& what);
    /// Goes on with what an earlier daemon was stopping, where the process itself is gone.
    void take_up_remains(Reader& reader);
    /// A background process came on record, or its exit did.
    void note(const WatchProcess& what);
    void note(const UnwatchProcess& what) { on_record_.erase(what.id); }
    /// The thread is held up until then, or waits for a wrapper's word.
    void stall_until(Host::Duration time) { goes_on_at_ = time; }
    /// What there is to say by now.
    std::vector<Input> step();

  private:
    struct Look {
        ProcessIdentity process;
        Departure departure;
        LeftoverLook look;
    };

    Host& host_;
    const HostTree tree_;
    LiveOwners owners_;
    const HostHolder holder_;
    StopOrders stopping_;
    struct OnRecord {
        ProcessIdentity process;
        SessionId session;
    };
    std::map<ProcessId, OnRecord> on_record_;
    std::vector<std::unique_ptr<Look>> looks_;
    Host::Duration goes_on_at_{0};
    bool has_taken_up_ = false;
};

}  // namespace knell::sim
