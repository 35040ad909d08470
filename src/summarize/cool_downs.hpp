#pragma once

#include <chrono>
#include <cstddef>
#include <map>

#include "base/time.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"

namespace knell {

/// Sessions whose summary could not be made a while ago: it is not tried again before the pause is
/// over, so that a provider that fails is not run at every message.  Pure.
class CoolDowns {
  public:
    explicit CoolDowns(std::chrono::milliseconds pause,
                       std::size_t sessions_max = limits::summary_cool_downs_max)
        : pause_(pause), sessions_max_(sessions_max) {}

    /// Past the bound the session that would be tried again first is forgotten, which costs one
    /// attempt.
    void note_failure(const SessionId& session_id, SteadyTime now);
    bool may_start(const SessionId& session_id, SteadyTime now) const;

    /// It was summarized, or is gone.
    void forget(const SessionId& session_id) { until_.erase(session_id); }
    /// The config of the summarizers is another: what failed may work now.
    void clear() { until_.clear(); }

    std::size_t size() const { return until_.size(); }

  private:
    const std::chrono::milliseconds pause_;
    const std::size_t sessions_max_;
    std::map<SessionId, SteadyTime> until_;
};

}  // namespace knell
