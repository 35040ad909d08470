#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "foreign/hermes/census.hpp"
#include "foreign/hermes/owners.hpp"

namespace knell::hermes {

/// A row that is to be ended, as it was when its owner was found dead.
struct DeadRow {
    std::string id;
    std::string source;
    WallTime last_sign;
};

/// What ending the leaked rows of a store would do, or did.
struct Fix {
    std::string database;
    std::string backup;  // a copy of it as it was before
    Share before;
    Share after;
    std::int64_t ended = 0;
    std::int64_t changed = 0;  // by somebody else meanwhile: left alone
    std::map<std::string, std::int64_t> by_source;
    std::vector<NamedRow> left_alone;  // whose owners may live
};

/// What would be ended: rows without an end whose owner is proven dead.  `blocked` while somebody
/// has state.db open, or may have.
Result<Fix> plan_fix(const std::string& dir, const ProcessView& view);

/// The one change that is ever made to a store of Hermes, and only because a person asks for it:
/// ends those rows as `reaped`, at the last sign of each.  Under a lock that keeps everybody out,
/// taken while nobody has the file open, and after a copy was made beside it and read back.
/// Everything or nothing is changed.
Result<Fix> fix(const std::string& dir, const ProcessView& view, WallTime now);

}  // namespace knell::hermes
