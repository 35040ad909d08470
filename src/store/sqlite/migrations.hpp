#pragma once

#include <span>

namespace knell::sqlite {

/// One numbered file of store/sqlite/migrations/, compiled in.
struct Migration {
    int number;        // 1, 2, 3 ... without holes: the store's version once it has run
    const char* name;  // "sessions" for 0001_sessions.sql
    const char* sql;
};

/// All of them, in order.  The build writes the definition (tools/embed_migrations.cmake).
extern const std::span<const Migration> migrations;

}  // namespace knell::sqlite
