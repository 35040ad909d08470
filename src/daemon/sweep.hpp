#pragma once

#include <utility>
#include <vector>

#include "engine/decide.hpp"
#include "watch/process_table.hpp"
#include "wire/json.hpp"

namespace knell {

/// One look at every owner process: what to tell the engine, and what to tell the person.
struct SweepFindings {
    std::vector<Command> commands;
    JsonObject
        report;  // {ended: [...], ended_count, left_alone: [...], left_alone_count, leases...}
};

/// Ends nothing by itself.
SweepFindings look_at_owners(const SurveyReply& survey, const ProcessTable& processes,
                             bool dry_run);

}  // namespace knell
