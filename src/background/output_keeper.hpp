#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "background/output_files.hpp"
#include "base/time.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Keeps every output small while it is written, and removes it some time after its process has
/// ended, unless something still writes to it.
///
/// The kernel says which file has grown (inotify); where it does not, each is looked at again and
/// again.  One that floods is looked at every `flood_look`: so much it may be over its bound.
///
/// A step, not a wait: the caller brings the time, and waits for the descriptor.  One thread.
class OutputKeeper {
  public:
    static constexpr std::chrono::milliseconds flood_look{20};
    /// Without the kernel's help: soon after something was written, and at the slowest.
    static constexpr std::chrono::milliseconds look_min{50};
    static constexpr std::chrono::seconds look_max{1};
    /// What ended is kept so long; so many at most, and those only while nobody writes to them.
    static constexpr std::size_t ended_max = 1024;
    static constexpr std::chrono::minutes written_look{1};

    /// Gives an inotify instance, or -1.
    using Ask = int (*)();
    static int ask_system();

    OutputKeeper(OutputFiles& files, std::chrono::nanoseconds kept_after_end, Ask ask = ask_system);

    void set_bytes_max(std::int64_t bytes_max) { bytes_max_ = bytes_max; }
    /// From now on it may be written to.
    void add(const ProcessId& id, SteadyTime now);
    /// Its process ended then.  Nothing when it has no output.
    void ended(const ProcessId& id, SteadyTime when, SteadyTime now);

    /// Readable when a file has grown; -1: for now nobody needs to wait for it.
    int descriptor(SteadyTime now) const;
    /// When there is a reason for a step though the descriptor says nothing.
    std::optional<SteadyTime> next_step() const;
    void step(SteadyTime now);

    std::size_t count() const { return entries_.size(); }

  private:
    struct Entry {
        std::int64_t end = 0;  // at the last look
        SteadyTime last_look{};
        SteadyTime next_look{};
        std::chrono::nanoseconds period{look_min};
        std::optional<SteadyTime> expires_at;
    };
    using Entries = std::map<ProcessId, Entry>;

    void schedule(Entries::iterator at, SteadyTime when);
    void take_events(SteadyTime now);
    void look(Entries::iterator at, SteadyTime now);
    void remove(Entries::iterator at);
    void remove_expired(SteadyTime now);

    OutputFiles& files_;
    const std::chrono::nanoseconds kept_after_end_;
    const Fd inotify_;
    const bool is_told_;
    std::int64_t bytes_max_;
    SteadyTime quiet_until_{};  // the kernel is not listened to before that
    Entries entries_;
    std::set<std::pair<SteadyTime, ProcessId>> looks_;
    std::set<std::pair<SteadyTime, ProcessId>> expiries_;
};

}  // namespace knell
