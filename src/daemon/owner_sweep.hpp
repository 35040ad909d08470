#pragma once

#include "core/sweep_report.hpp"
#include "engine/reply.hpp"
#include "watch/process_table.hpp"
#include "watch/process_watch.hpp"

namespace knell {

/// Looks at every owner of the survey now.  Unless it is only tried, those that the watch should
/// look at again are handed to it.  On the read thread.
SweepReport sweep_owners(const SurveyReply& survey, const ProcessTable& processes,
                         ProcessWatch& watch, bool dry_run);

}  // namespace knell
