#pragma once

#include <span>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/batch.hpp"
#include "store/sqlite/delivery_rows.hpp"

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
    void put(const LivenessMarked& change);
    void put(const Parked& change);
    void put(const Seen& change);
    void put(const LeftoversSettled& change);
    void put(const Event& event);
    /// They go on from the newest on record, without holes.
    void check_numbers(std::span<const Event> events);
    /// Ends by hour and reason: counted once a batch.
    void count_ends(std::span<const Event> events);

    SQLite::Statement open_;
    SQLite::Statement open_many_;
    SQLite::Statement reopen_;
    SQLite::Statement end_;
    SQLite::Statement count_;
    SQLite::Statement message_;
    SQLite::Statement turn_;
    SQLite::Statement uncertainty_;
    SQLite::Statement park_;
    SQLite::Statement seen_;
    SQLite::Statement settle_;
    SQLite::Statement alive_;
    SQLite::Statement listened_;
    SQLite::Statement begin_life_;
    SQLite::Statement forget_lives_;
    SQLite::Statement ends_;
    SQLite::Statement newest_;
    SQLite::Statement event_;
    SQLite::Statement event_many_;
    DeliveryWriter deliveries_;
};

}  // namespace knell::sqlite
