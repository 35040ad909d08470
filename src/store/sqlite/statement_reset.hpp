#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace knell::sqlite {

/// A statement is over when this goes: one that is not would keep its view of the store.
class StatementReset {
  public:
    explicit StatementReset(SQLite::Statement& statement) : statement_(statement) {}
    ~StatementReset() { statement_.tryReset(); }
    StatementReset(const StatementReset&) = delete;
    StatementReset& operator=(const StatementReset&) = delete;

  private:
    SQLite::Statement& statement_;
};

}  // namespace knell::sqlite
