#pragma once

#include <set>
#include <string>
#include <tuple>

#include "base/mutex.hpp"
#include "core/owner.hpp"

namespace knell {

/// The processes that own open sessions: nobody's leftovers, whatever else is known of them.  Any
/// thread.
class LiveOwners {
  public:
    void add(const ProcessIdentity& process) {
        const Lock lock(mutex_);
        owners_.insert(key_of(process));
    }
    void remove(const ProcessIdentity& process) {
        const Lock lock(mutex_);
        owners_.erase(key_of(process));
    }
    bool contains(const ProcessIdentity& process) const {
        const Lock lock(mutex_);
        return owners_.contains(key_of(process));
    }

  private:
    using Key = std::tuple<std::int32_t, std::uint64_t, std::string>;
    static Key key_of(const ProcessIdentity& process) {
        return {process.pid, process.start_ticks, process.boot_id};
    }

    mutable Mutex mutex_;
    std::set<Key> owners_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
