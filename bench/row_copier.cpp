#include "row_copier.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "must.hpp"

namespace knell::bench {

namespace {

void check(int status, sqlite3* database) {
    if (status == SQLITE_OK || status == SQLITE_ROW || status == SQLITE_DONE) return;
    throw Failed(fmt::format("SQLite: {}", sqlite3_errmsg(database)));
}

}  // namespace

RawDatabase::RawDatabase(const std::string& path, bool durable) {
    sqlite3* database = nullptr;
    const auto status = sqlite3_open_v2(path.c_str(), &database,
                                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(database);
    check(status, database);
    exec("PRAGMA journal_mode = WAL");
    exec(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF");
    exec("PRAGMA cache_size = -65536");
    exec("PRAGMA wal_autocheckpoint = 8000");
}

void RawDatabase::exec(const char* sql) {
    check(sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr), handle());
}

RawStatement::RawStatement(const RawDatabase& database, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v3(database.handle(), sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                             &statement, nullptr),
          database.handle());
    statement_.reset(statement);
}

bool RawStatement::step() {
    const auto status = sqlite3_step(handle());
    check(status, sqlite3_db_handle(handle()));
    return status == SQLITE_ROW;
}

RowCopier::RowCopier(const RawDatabase& database, const std::string& table,
                     const std::string& where) {
    RawStatement pattern(database, fmt::format("SELECT * FROM {} WHERE {}", table, where));
    if (!pattern.step()) throw Failed(fmt::format("no row of {} where {}", table, where));
    const int count = sqlite3_column_count(pattern.handle());
    std::string marks;
    for (int i = 0; i < count; ++i) {
        columns_.emplace_back(sqlite3_column_name(pattern.handle(), i));
        marks += i == 0 ? "?" : ",?";
    }
    insert_ = std::make_unique<RawStatement>(
        database, fmt::format("INSERT INTO {} VALUES ({})", table, marks));
    for (int i = 0; i < count; ++i) {
        sqlite3_bind_value(insert_->handle(), i + 1, sqlite3_column_value(pattern.handle(), i));
    }
}

int RowCopier::column(std::string_view name) const {
    const auto found = std::ranges::find(columns_, name);
    if (found == columns_.end()) throw Failed(fmt::format("no column {}", name));
    return static_cast<int>(found - columns_.begin()) + 1;
}

void RowCopier::set(int column, std::int64_t value) {
    sqlite3_bind_int64(insert_->handle(), column, value);
}

void RowCopier::set(int column, std::string_view value) {
    sqlite3_bind_text(insert_->handle(), column, value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
}

void RowCopier::insert() {
    insert_->step();
    insert_->reset();
}

}  // namespace knell::bench
