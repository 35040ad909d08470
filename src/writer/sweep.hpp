#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/sweep_report.hpp"
#include "engine/decide.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// One look at every owner process: whom the watch should look for itself, and what to tell the
/// person.
struct SweepFindings {
    std::vector<ProcessIdentity> look_again;
    SweepReport report;
};

/// Ends nothing and doubts nothing by itself: that is the watch's, which may hold a process by its
/// pidfd and know more than a late look.  `is_held` asks it.
SweepFindings look_at_owners(const SurveyReply& survey, const ProcessTable& processes,
                             const std::function<bool(const ProcessIdentity&)>& is_held,
                             bool dry_run);

}  // namespace knell
