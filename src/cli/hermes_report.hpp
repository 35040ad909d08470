#pragma once

#include <string>

#include "cli/table.hpp"
#include "foreign/hermes/fix.hpp"
#include "foreign/hermes/home.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What was found in a home of Hermes, as JSON: everything.  Pure.
JsonObject hermes_json(const hermes::Examination& found);

/// The same for a person: a sentence, a table, then the rest.  Pure.
std::string hermes_report(const hermes::Examination& found, WallTime now, const Terminal& terminal);

/// What ending leaked rows there would do, or did.  Pure.
JsonObject hermes_fix_json(const hermes::Fix& fix, bool dry_run);
std::string hermes_fix_report(const hermes::Fix& fix, bool dry_run, WallTime now,
                              const Terminal& terminal);

}  // namespace knell::cli
