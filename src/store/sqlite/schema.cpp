#include "store/sqlite/schema.hpp"

#include <fmt/format.h>

#include "store/sqlite/fts_words.hpp"
#include "store/sqlite/migrations.hpp"

namespace knell::sqlite {

namespace {

constexpr int application_id = 0x6b6e656c;  // "knel", in the file's header

/// A full check reads the whole file.  Up to this size that is well under a second; beyond it,
/// damage is found when a damaged page is read, and refused then.
constexpr std::int64_t check_whole_file_max = 512LL << 20;

std::int64_t pragma(SQLite::Database& database, const char* name) {
    return database.execAndGet(std::string("PRAGMA ") + name).getInt64();
}

}  // namespace

int newest_schema() {
    return migrations.back().number;
}

int schema_of(SQLite::Database& database) {
    return static_cast<int>(pragma(database, "user_version"));
}

Result<void> inspect(SQLite::Database& database, const std::string& path) {
    const auto tables = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt();
    if (tables == 0) return {};
    if (pragma(database, "application_id") != application_id) {
        return fail(ErrorCode::storage,
                    fmt::format("{} is a database of another program; nothing was changed. Point "
                                "KNELL_HOME elsewhere, or move that file away",
                                path));
    }
    const auto schema = schema_of(database);
    if (schema > newest_schema()) {
        return fail(ErrorCode::storage,
                    fmt::format("{} has schema {}, newer than the {} this knell knows; nothing was "
                                "changed. Install the newer knell that wrote it, or point "
                                "KNELL_HOME elsewhere",
                                path, schema, newest_schema()));
    }
    if (pragma(database, "page_count") * pragma(database, "page_size") <= check_whole_file_max) {
        const std::string verdict = database.execAndGet("PRAGMA quick_check(1)").getString();
        if (verdict != "ok") {
            return fail(ErrorCode::storage,
                        fmt::format("{} is damaged ({}); nothing was changed or deleted. Move it "
                                    "aside and restore a backup, or recover what is readable with: "
                                    "sqlite3 {} .recover",
                                    path, verdict, path));
        }
    }
    return {};
}

void migrate(SQLite::Database& database) {
    database.check(add_search_functions(database.getHandle()));
    const auto have = schema_of(database);
    for (const auto& migration : migrations) {
        if (migration.number <= have) continue;
        SQLite::Transaction transaction(database);
        database.exec(migration.sql);
        database.exec(fmt::format("PRAGMA application_id = {}", application_id));
        database.exec(fmt::format("PRAGMA user_version = {}", migration.number));
        transaction.commit();
    }
}

}  // namespace knell::sqlite
