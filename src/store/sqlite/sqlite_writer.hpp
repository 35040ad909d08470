#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/batch.hpp"

namespace knell::sqlite {

/// The statements that write a batch, prepared once.  Throws SQLite::Exception; the caller holds
/// the transaction.
class BatchWriter {
  public:
    explicit BatchWriter(SQLite::Database& database);

    void write(const Batch& batch);

  private:
    void put(const Opened& change);
    void put(const Reopened& change);
    void put(const Ended& change);
    void put(const Appended& change);
    void put(const TurnSet& change);
    void put(const Event& event);

    SQLite::Statement open_;
    SQLite::Statement open_many_;
    SQLite::Statement reopen_;
    SQLite::Statement end_;
    SQLite::Statement count_;
    SQLite::Statement message_;
    SQLite::Statement turn_;
    SQLite::Statement event_;
    SQLite::Statement event_many_;
};

}  // namespace knell::sqlite
