#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace knell::sqlite {

/// What is read in its life is of one moment.
class Snapshot {
  public:
    explicit Snapshot(SQLite::Database& database) : database_(database) { database_.exec("BEGIN"); }
    ~Snapshot() { database_.tryExec("ROLLBACK"); }
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

  private:
    SQLite::Database& database_;
};

}  // namespace knell::sqlite
