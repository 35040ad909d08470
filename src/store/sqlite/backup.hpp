#pragma once

#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"

namespace knell::sqlite {

/// Copies the store whole, its log included, before a migration changes it: 0600, synced, and under
/// its name only once it is complete.  That is PATH.schema-N, or the next that is free: whatever is
/// there is left alone.  Gives its path; nothing where the newest copy holds just this already, as
/// after a start that was cut short.
Result<std::optional<std::string>> back_up(SQLite::Database& database, const std::string& path,
                                           int schema);

/// The same for another reason: at `path`, or the next that is free.  Gives where it is.
Result<std::string> copy_store(SQLite::Database& database, const std::string& path);

}  // namespace knell::sqlite
