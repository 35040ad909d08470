#pragma once

#include <string>
#include <vector>

#include "cli/status_verdict.hpp"
#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What node.status answers, for a person.  A part that an older or newer daemon does not tell is
/// left out, not shown as 0.  Pure.
std::vector<Fact> status_facts(const JsonObject& status, const DaemonSurroundings& around = {});

/// The verdict in one line, and below it what is wrong and what is worth knowing.  Pure.
std::string verdict_text(const JsonObject& status, const StatusVerdict& verdict,
                         const Terminal& terminal);

}  // namespace knell::cli
