#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "foreign/hermes/census.hpp"
#include "foreign/hermes/owners.hpp"
#include "foreign/hermes/settings.hpp"

namespace knell::hermes {

class StateDb;

/// How processes are seen from this machine, now.
ProcessView view_processes();

/// The directory in which Hermes keeps what it knows, read as it is at one moment.  Nothing in it
/// is created, written or locked.
class Home {
  public:
    /// `dir` may name state.db itself: then what stands beside it counts.
    static Result<Home> open(const std::string& dir, ProcessView view);
    Home(Home&&) noexcept;
    Home& operator=(Home&&) = delete;
    ~Home();

    const std::string& dir() const { return dir_; }
    const std::string& database_path() const { return database_path_; }
    std::int64_t bytes() const { return bytes_; }
    StateDb& state() { return *state_; }
    const StateDb& state() const { return *state_; }
    const RowJudge& judge() const { return *judge_; }
    const ProcessView& view() const { return view_; }
    const std::vector<RoutingEntry>& routing() const { return routing_; }
    const std::vector<ProcessEntry>& processes() const { return processes_; }
    /// Files that could not be read or understood: no owner is taken for dead meanwhile.
    const std::vector<std::string>& problems() const { return problems_; }

  private:
    Home(std::string dir, ProcessView view);
    Result<void> read_database();
    void read_files(RowJudge::Facts& facts);

    std::string dir_;
    ProcessView view_;
    std::string database_path_;
    std::int64_t bytes_ = 0;
    FileHolders holders_;
    std::unique_ptr<StateDb> state_;
    std::unique_ptr<RowJudge> judge_;
    std::vector<RoutingEntry> routing_;
    std::vector<ProcessEntry> processes_;
    std::vector<std::string> problems_;
};

/// All that `knell doctor --hermes` tells.
struct Examination {
    std::string dir;
    std::string database;
    int schema = 0;
    std::int64_t bytes = 0;
    bool read_a_copy = false;
    std::string in_use;  // who may have state.db open; "": nobody has
    Census census;
    struct Process {
        ProcessEntry entry;
        ProcessJudgement judged;
    };
    std::vector<Process> processes;
    std::int64_t routing_entries = 0;
    std::int64_t dangling_entries = 0;  // that lead to no session
    /// Which the gateway has finalized, and that have no end.
    std::vector<RoutingEntry> finalized_without_end;
    std::vector<HookSummary> hooks;
    std::optional<Settings> settings;  // none: there is no config.yaml
    std::vector<std::string> problems;
};

/// `since`: see CensusCount.
Result<Examination> examine(const std::string& dir, const ProcessView& view, WallTime now,
                            std::optional<WallTime> since);

}  // namespace knell::hermes
