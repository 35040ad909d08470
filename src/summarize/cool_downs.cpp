#include "summarize/cool_downs.hpp"

#include <algorithm>

namespace knell {

void CoolDowns::note_failure(const SessionId& session_id, SteadyTime now) {
    until_.insert_or_assign(session_id, now + pause_);
    if (until_.size() <= sessions_max_) return;
    std::erase_if(until_, [&](const auto& one) { return one.second <= now; });
    if (until_.size() <= sessions_max_) return;
    until_.erase(std::ranges::min_element(until_, {}, [](const auto& one) { return one.second; }));
}

bool CoolDowns::may_start(const SessionId& session_id, SteadyTime now) const {
    const auto found = until_.find(session_id);
    return found == until_.end() || found->second <= now;
}

}  // namespace knell
