#pragma once

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"

namespace knell::sqlite {

/// Where the copy of a store of that schema goes: beside it.
std::string backup_path(const std::string& path, int schema);

/// Copies the store whole, its log included, before a migration changes it: 0600, synced, and under
/// its name only once it is complete.  One that is there already is left alone: false.
Result<bool> back_up(SQLite::Database& database, const std::string& path, int schema);

}  // namespace knell::sqlite
