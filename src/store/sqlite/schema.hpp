#pragma once

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"

namespace knell::sqlite {

/// Says whether `database` may be used, without changing it: a knell store or an empty file, not
/// damaged, not newer than this program.
Result<void> inspect(SQLite::Database& database, const std::string& path);

/// Brings an inspected store to the newest schema, one transaction a step.
void migrate(SQLite::Database& database);

int newest_schema();
/// Of that store; 0: it is new.
int schema_of(SQLite::Database& database);

}  // namespace knell::sqlite
