#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/background_process.hpp"
#include "engine/awake_clock.hpp"
#include "watch/process_table.hpp"

namespace knell::sim {

/// A machine: its clocks and its processes.  What it says to the code under test it says through
/// the interface of the real process table; what is true is in its public part.
class Host final : public ProcessTable {
  public:
    using Duration = std::chrono::nanoseconds;

    /// A process that is started in the background waits before it executes its program.
    enum class Gate : std::uint8_t { none, waits, open, closed };

    struct Process {
        ProcessIdentity identity;
        pid_t here = 0;  // its pid in the daemon's namespace, whatever it is in its own
        bool alive = true;
        bool readable = true;
        bool was_hidden = false;    // at any time it was not
        bool is_waited_for = true;  // false: a zombie tells how it went
        Departure went;
        Duration ended_at{0};  // of the simulation
        pid_t parent = 1;
        pid_t group = 0;
        pid_t session = 0;
        std::string started_by;  // the session whose command started it; "": none
        Generation started_in = 0;
        ProcessIdentity started_from;  // its parent then
        bool hides_cookie = false;
        bool ignores_term = false;
        bool serves = false;      // it daemonised, and others use it
        bool is_private = false;  // no client names it as an owner: a `knell run`, or its command
        // Of one that was started in the background.
        std::string process_id;  // the cookie in its environment; what it starts has it, too
        Gate gate = Gate::none;
        bool fails_to_execute = false;
        int executed = 0;  // how often its program was
        /// What it does, and since when: the truth, whatever is said of it.
        ProcessActivity activity = ProcessActivity::working;
        Duration active_since{0};
    };

    /// How many processes can be held at once by a descriptor; and whether a look still finds one
    /// to read with.
    std::size_t descriptors = SIZE_MAX;
    bool can_read = true;
    /// Whether processes of the other pid namespace can be seen.
    bool can_see_inside = true;

    // --- time --------------------------------------------------------------------------------

    void pass(Duration time);
    void suspend(Duration time);
    void set_clock(std::chrono::milliseconds by) {
        readings_.wall += by;
        clock_sets_.push_back({elapsed_, by});
    }
    /// A clock on the wall, by how far it is ahead of the one that the simulation began with.
    using Ahead = std::chrono::milliseconds;
    /// What a clock showed at some time of the simulation.
    static WallTime shown_at(Duration elapsed, Ahead ahead);
    /// All that the clock on the wall was between these times.
    std::vector<Ahead> clocks_between(Duration from, Duration to) const;
    /// When the host restarted.
    const std::vector<Duration>& restarts() const { return restarts_; }
    const AwakeClock::Readings& readings() const { return readings_; }
    Now now() const { return {readings_.wall, readings_.boot, readings_.boot}; }
    /// Since the simulation began; neither a restart nor a set clock touches it.
    Duration elapsed() const { return elapsed_; }

    // --- processes ---------------------------------------------------------------------------

    const ProcessIdentity& start();
    /// In another pid namespace, where it has a pid that somebody has here, too.
    void start_inside();
    /// Another process under the pid of one that is gone; nullptr when somebody has it already.
    Process* reuse_pid(const Process& gone);
    /// A child of `parent`, in its group and session; nullptr when there are too many already.
    Process* start_child(const ProcessIdentity& parent);
    /// A child of `daemon` that waits at a gate; nullptr when there are too many already.
    Process* start_at_gate(const ProcessIdentity& daemon);
    void end(Process& process, Departure departure, bool is_waited_for);
    void restart();
    Process* find(const ProcessIdentity& identity);
    bool is_alive(const ProcessIdentity& identity) const;
    /// Who has this pid, dead but not waited for included.
    const Process* holder_of(pid_t pid) const;
    std::vector<Process>& processes() { return processes_; }
    const std::vector<Process>& processes() const { return processes_; }

    std::optional<ProcessIdentity> identify(pid_t pid) const override;
    ProcessSnapshot look_at(pid_t pid) const override;
    Departure exit_of(const ProcessSnapshot& snapshot,
                      const ProcessIdentity& process) const override;
    const std::string& boot_id() const override { return boot_id_; }
    std::uint64_t own_pid_namespace() const override { return 1; }
    std::uint64_t pid_namespace_of(pid_t) const override { return 1; }
    Located locate(const NamedPid& named, pid_t near) const override;

  private:
    void put(pid_t pid);

    static constexpr WallTime began_at{std::chrono::milliseconds{1'800'000'000'000}};
    AwakeClock::Readings readings_{began_at, SteadyTime{std::chrono::seconds{100}},
                                   SteadyTime{std::chrono::seconds{100}}};
    Duration elapsed_{0};
    std::vector<Process> processes_;  // of all boots
    pid_t last_pid_ = 100;
    std::uint64_t last_ticks_ = 1000;
    int boots_ = 1;
    std::string boot_id_ = "boot-1";
    struct ClockSet {
        Duration at;
        Ahead by;
    };
    std::vector<ClockSet> clock_sets_;
    std::vector<Duration> restarts_;
};

}  // namespace knell::sim
