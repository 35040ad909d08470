#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "platform/fd.hpp"
#include "watch/process_check.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// The owners that are watched, each in one of three ways:
///
///   held       through a descriptor that tells of its end;
///   looked_at  no descriptor can be had for it: looked for every second;
///   unclear    cannot be told: looked for again, ever more slowly, until there is an answer.
///
/// Each look may move an owner from any way to any other, or find it gone, which ends its watch.
/// What is found is told at once and once, stamped with when it was seen.  Pure: processes, clock
/// and descriptors are handed in, so the daemon's watch thread and the simulator run the same
/// steps.  One thread.
class WatchList {
  public:
    using Number = std::uint64_t;
    enum class How : std::uint8_t { not_watched, held, looked_at, unclear };
    /// For people; "" when it is not watched.
    static std::string_view describe(How how);

    /// Holds descriptors and says when one tells of an end (see `ended`).
    class Holder {
      public:
        virtual ~Holder() = default;
        /// False when it cannot: there is no descriptor, or no room for one more.
        virtual bool hold(Number number, const ProcessIdentity& process, Fd&& pidfd) = 0;
        virtual void release(Number number) = 0;
    };

    struct Tell {
        std::function<void(const ProcessIdentity&, const Departure&)> gone;
        std::function<void(const ProcessIdentity&, const std::string& why)> unknown;
        std::function<void(const ProcessIdentity&)> alive;  // once more, after `unknown`
    };
    using ReadClock = std::function<SteadyTime()>;  // the boot clock

    WatchList(const ProcessTable& table, Holder& holder, Tell tell, ReadClock clock);

    /// An answer about a process, and the moments before and after it was sought.
    struct Look {
        Finding finding;
        SteadyTime before;
        SteadyTime after;
    };
    /// Any thread.
    Look look(const ProcessIdentity& process) const;

    /// Begins to watch, or takes a new look at one that is not held.
    void watch(const ProcessIdentity& process, Look&& look);
    void unwatch(const ProcessIdentity& process);
    /// What is held under that number has ended; `how` asks the descriptor how it went.
    void ended(Number number, const std::function<Departure(const ProcessIdentity&)>& how);
    /// Of all that is held, what was not said to have ended was still there at `before`.
    void looked_at_held(SteadyTime before) { looked_at_held_ = before; }
    /// Looks for those whose turn it is.
    void look_again();
    std::optional<SteadyTime> next_look() const;

    How how(const ProcessIdentity& process) const;
    /// Every owner that is held or looked at was there at that time, unless its end was told.
    SteadyTime proven_until() const;
    struct Counts {
        std::size_t held = 0;
        std::size_t looked_at = 0;
        std::size_t unclear = 0;
    };
    Counts counts() const { return counts_; }
    /// For tests: every number and set agrees with every other.
    void check_invariants() const;

  private:
    using Key = std::tuple<std::int32_t, std::uint64_t, std::uint64_t, std::string>;
    struct Entry {
        ProcessIdentity process;
        How how = How::not_watched;
        Number number = 0;
        std::optional<SteadyTime> there_at;  // the last look that found it
        SteadyTime next_look;                // unless held
        std::chrono::nanoseconds delay{0};   // of the last look that could not tell
    };
    using Entries = std::map<Key, Entry>;

    static Key key_of(const ProcessIdentity& process);
    void take(Entries::iterator at, Look&& look);
    void set_how(Entry& entry, How how);
    void schedule(const Key& key, Entry& entry, SteadyTime when);
    void forget(Entries::iterator at);
    std::size_t& count_of(How how);
    std::chrono::nanoseconds look_period() const;

    const ProcessTable& table_;
    Holder& holder_;
    const Tell tell_;
    const ReadClock clock_;
    Entries entries_;
    std::map<Number, Key> held_;
    std::set<std::pair<SteadyTime, Key>> turns_;       // who is looked for when
    std::set<std::pair<SteadyTime, Key>> last_found_;  // of the looked_at, by there_at
    SteadyTime looked_at_held_{};
    Number next_number_ = 1;
    Counts counts_;
};

}  // namespace knell
