#pragma once

#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "core/owner.hpp"

namespace knell {

/// The processes that own open sessions: nobody's leftovers, whatever else is known of them.  Any
/// thread.
class LiveOwners {
  public:
    void add(const ProcessIdentity& process) {
        const std::lock_guard lock(mutex_);
        owners_.insert(key_of(process));
    }
    void remove(const ProcessIdentity& process) {
        const std::lock_guard lock(mutex_);
        owners_.erase(key_of(process));
    }
    bool contains(const ProcessIdentity& process) const {
        const std::lock_guard lock(mutex_);
        return owners_.contains(key_of(process));
    }

  private:
    using Key = std::tuple<std::int32_t, std::uint64_t, std::string>;
    static Key key_of(const ProcessIdentity& process) {
        return {process.pid, process.start_ticks, process.boot_id};
    }

    mutable std::mutex mutex_;  // guards all below
    std::set<Key> owners_;
};

}  // namespace knell
