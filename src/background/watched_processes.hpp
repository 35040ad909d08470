#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "background/tree_finder.hpp"
#include "base/mutex.hpp"
#include "core/background_process.hpp"

namespace knell {

/// The background processes that are on record and run, as far as they are to be told apart.  Any
/// thread.
class WatchedProcesses {
  public:
    struct Facts {
        SessionId session_id;
        Generation generation = 0;
        ProcessIdentity process;
        ProcessOrigin origin = ProcessOrigin::started;
    };

    void add(const BackgroundProcess& process) {
        const Lock lock(mutex_);
        by_id_.insert_or_assign(process.id, Facts{process.session_id, process.generation,
                                                  process.process, process.origin});
        records_.insert_or_assign(key_of(process.process),
                                  OthersProcess{process.id, process.session_id});
    }
    void remove(const ProcessId& id) {
        const Lock lock(mutex_);
        const auto at = by_id_.find(id);
        if (at == by_id_.end()) return;
        records_.erase(key_of(at->second.process));
        by_id_.erase(at);
    }
    std::optional<Facts> find(const ProcessId& id) const {
        const Lock lock(mutex_);
        const auto at = by_id_.find(id);
        return at == by_id_.end() ? std::nullopt : std::optional(at->second);
    }
    /// As what it is on record for another session than this.
    std::optional<OthersProcess> as_anothers(const ProcessIdentity& process,
                                             const SessionId& session) const {
        const Lock lock(mutex_);
        const auto at = records_.find(key_of(process));
        if (at == records_.end() || at->second.session_id == session) return std::nullopt;
        return at->second;
    }
    /// What belongs to one of them; outlived by this.
    TreeBounds bounds(std::string socket, const LiveOwners& owners) const {
        return {.socket = std::move(socket),
                .owners = owners,
                .as_others = [this](const ProcessIdentity& process, const SessionId& session) {
                    return as_anothers(process, session);
                }};
    }
    bool is_on_record(const ProcessIdentity& process) const {
        const Lock lock(mutex_);
        return records_.contains(key_of(process));
    }

  private:
    using Key = std::tuple<std::int32_t, std::uint64_t, std::string>;
    static Key key_of(const ProcessIdentity& process) {
        return {process.pid, process.start_ticks, process.boot_id};
    }

    mutable Mutex mutex_;
    std::map<ProcessId, Facts> by_id_ KNELL_GUARDED_BY(mutex_);
    std::map<Key, OthersProcess> records_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
