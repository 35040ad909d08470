#pragma once

#include <vector>

#include "cli/table.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What node.status answers, for a person.  A part that an older or newer daemon does not tell is
/// left out, not shown as 0.  Pure.
std::vector<Fact> status_facts(const JsonObject& status);

}  // namespace knell::cli
