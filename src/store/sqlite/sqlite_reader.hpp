#pragma once

#include <memory>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/sqlite/sqlite_store.hpp"
#include "store/store.hpp"

namespace knell::sqlite {

/// Opens a read-only connection beside the writer.
Result<std::unique_ptr<Reader>> open_reader(const Location& location);

/// One session, on any connection.
class SessionFinder {
  public:
    explicit SessionFinder(SQLite::Database& database);
    std::optional<Session> find(const SessionId& id);
    std::optional<Session> newest_child(const SessionId& parent, Relation relation);

  private:
    SQLite::Statement select_;
    SQLite::Statement newest_child_;
};

}  // namespace knell::sqlite
