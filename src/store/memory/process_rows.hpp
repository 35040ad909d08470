#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "store/store.hpp"

namespace knell {

/// The background processes of a memory store, by number.
class ProcessRows {
  public:
    const BackgroundProcess* find(std::int64_t number) const;
    /// The newest of that id.
    const BackgroundProcess* find(const ProcessId& id) const;
    /// The running one with the id or the identity of `process`.
    const BackgroundProcess* find_running(const BackgroundProcess& process) const;
    std::int64_t newest() const { return rows_.empty() ? 0 : rows_.rbegin()->first; }

    /// `session_of` gives the session of an id, or nothing.
    ProcessPage list(const ProcessQuery& query,
                     const std::function<const Session*(const SessionId&)>& session_of) const;
    std::vector<BackgroundProcess> running() const;

    void put(BackgroundProcess row);

  private:
    using Identity = std::tuple<std::int32_t, std::uint64_t, std::uint64_t, std::string>;
    static Identity key_of(const ProcessIdentity& process);

    std::map<std::int64_t, BackgroundProcess> rows_;
    std::map<ProcessId, std::int64_t> by_id_;       // the newest
    std::map<Identity, std::int64_t> by_identity_;  // those that run
};

ProcessOnRecord::Session standing_of(const Session* session);

/// What a batch makes of them, looked at whole before anything of it is written.
class StagedProcesses {
  public:
    explicit StagedProcesses(const ProcessRows& table) : table_(table) {}

    /// A change to a process.
    Result<void> add(const Change& change);
    void write_to(ProcessRows& table);

  private:
    Result<void> open(const BackgroundProcess& process);
    BackgroundProcess* find(std::int64_t number);
    bool is_on_record(const BackgroundProcess& process) const;

    const ProcessRows& table_;
    std::map<std::int64_t, BackgroundProcess> rows_;  // as they will be
};

}  // namespace knell
