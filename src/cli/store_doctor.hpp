#pragma once

#include <string>

#include "cli/table.hpp"
#include "daemon/examine_store.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What was found in the store of this home, as JSON: everything.  Pure.
JsonObject store_json(const StoreExamination& found);

/// The same for a person: a sentence, a table, then the rest.  Pure.
std::string store_report(const StoreExamination& found, WallTime now, const Terminal& terminal);

}  // namespace knell::cli
