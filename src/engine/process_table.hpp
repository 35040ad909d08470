#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/background_process.hpp"
#include "engine/wall_deadlines.hpp"

namespace knell {

/// A background process whose exit is not on record.
struct RunningProcess {
    BackgroundProcess row;
    /// How the wall clock stood when its newest time was recorded: see State::time_for.
    std::chrono::milliseconds clock{0};
    /// An earlier daemon put it on record, and watched it.
    bool adopted = false;

    /// Whether it is work that keeps its session.  A vouch holds until it is taken off the record:
    /// so this changes when something is decided, and not by itself.
    bool counts() const {
        return row.vouched_until || row.activity.activity == ProcessActivity::working;
    }

    bool operator==(const RunningProcess&) const = default;
};

/// The background processes that run.  Those that have ended are in the store only.
class RunningProcesses {
  public:
    const RunningProcess* find(const ProcessId& id) const;
    const RunningProcess* find(const ProcessIdentity& process) const;
    /// In the order in which they came on record.
    std::vector<const RunningProcess*> of(const SessionId& session_id) const;
    std::size_t count_of(const SessionId& session_id) const;
    /// Of these, how many count as work.
    std::size_t counting_of(const SessionId& session_id) const;

    std::size_t size() const { return by_number_.size(); }
    std::size_t count(ProcessActivity activity) const {
        return counts_.at(static_cast<std::size_t>(activity));
    }
    /// Of all that somebody vouches for: when that is over for the first of them, and whom it is
    /// over for at `now`.
    std::optional<WallTime> next_vouch_end() const { return vouches_.next(); }
    const RunningProcess* vouch_over(WallTime now) const;

    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [number, process] : by_number_) visit(process);
    }

    void insert(RunningProcess process);
    RunningProcess erase(const ProcessId& id);

  private:
    using Number = std::int64_t;
    struct HashIdentity {
        std::size_t operator()(const ProcessIdentity& process) const {
            return std::hash<std::uint64_t>{}(process.start_ticks * 1'000'003U +
                                              static_cast<std::uint64_t>(process.pid));
        }
    };
    struct OfSession {
        std::map<Number, const RunningProcess*> processes;
        std::size_t counting = 0;
    };

    std::map<Number, RunningProcess> by_number_;
    std::unordered_map<ProcessId, const RunningProcess*> by_id_;
    std::unordered_map<ProcessIdentity, const RunningProcess*, HashIdentity> by_process_;
    std::unordered_map<SessionId, OfSession> by_session_;
    WallDeadlines<Number, SparsePositions> vouches_;
    std::array<std::size_t, process_activity_names.size()> counts_{};
};

}  // namespace knell
