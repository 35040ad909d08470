#pragma once

#include <memory>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/sqlite/sqlite_store.hpp"
#include "store/store.hpp"

namespace knell::sqlite {

/// Opens a read-only connection beside the writer.
Result<std::unique_ptr<Reader>> open_reader(const Location& location);

/// One session by id, on any connection.
class SessionFinder {
  public:
    explicit SessionFinder(SQLite::Database& database);
    std::optional<Session> find(const SessionId& id);

  private:
    SQLite::Statement select_;
};

}  // namespace knell::sqlite
