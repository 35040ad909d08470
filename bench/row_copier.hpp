#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

namespace knell::bench {

/// A store opened through the SQLite C API and nothing else, with knell's own pragmas and, as knell
/// under load, a checkpoint every 8,000 pages.
class RawDatabase {
  public:
    /// `durable` false: for filling a store that is not measured.
    RawDatabase(const std::string& path, bool durable);

    void exec(const char* sql);
    sqlite3* handle() const { return database_.get(); }

  private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    };
    std::unique_ptr<sqlite3, Close> database_;
};

/// A prepared statement.
class RawStatement {
  public:
    RawStatement(const RawDatabase& database, const std::string& sql);

    /// True while there is a row.
    bool step();
    void reset() { sqlite3_reset(statement_.get()); }
    sqlite3_stmt* handle() const { return statement_.get(); }

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Writes copies of a row that knell wrote, so that a baseline writes the very same columns and
/// follows the schema by itself.  What stays the same is bound once, which favours the baseline.
class RowCopier {
  public:
    /// `where` picks the pattern.
    RowCopier(const RawDatabase& database, const std::string& table, const std::string& where);

    int column(std::string_view name) const;
    void set(int column, std::int64_t value);
    /// `value` must stay as it is until the next insert.
    void set(int column, std::string_view value);
    void insert();

  private:
    std::vector<std::string> columns_;
    std::unique_ptr<RawStatement> insert_;
};

}  // namespace knell::bench
