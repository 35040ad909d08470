#pragma once

#include <concepts>
#include <span>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"
#include "store/batch.hpp"
#include "store/sqlite/delivery_rows.hpp"
#include "store/sqlite/process_rows.hpp"
#include "store/sqlite/source_counts.hpp"

namespace knell::sqlite {

/// The statements that write a batch, prepared once.  Throws SQLite::Exception; the caller holds
/// the transaction, and rolls it back when the answer is an error.
class BatchWriter {
  public:
    explicit BatchWriter(SQLite::Database& database);

    Result<void> write(const Batch& batch);

  private:
    Result<void> write(std::span<const Change> changes);
    /// Whether its row was there, as it was decided for.
    bool put(const Opened& change);
    bool put(const Reopened& change);
    bool put(const Ended& change);
    bool put(const Appended& change);
    bool put(const MessagesCopied& change);
    bool put(const TurnSet& change);
    bool put(const AttachmentSet& change);
    bool put(const LivenessMarked& change);
    bool put(const Parked& change);
    bool put(const Seen& change);
    bool put(const Interacted& change);
    bool put(const Suspended& change);
    bool put(const KeyTaken& change);
    bool put(const ResetHeld& change);
    bool put(const LeftoversSettled& change);
    bool put(const Labelled& change);
    bool put(const BackgroundSet& change);
    bool put(const ProcessOpened& change) { return processes_.put(change); }
    template <std::derived_from<ProcessRef> ToProcess>
    bool put(const ToProcess& change) {
        return processes_.put(change);
    }
    /// Why a change was not put.
    Error conflict(const Change& change);
    void put(const Event& event);
    /// They go on from the newest on record, without holes.
    Result<void> check_numbers(std::span<const Event> events);
    /// Ends by hour and reason: counted once a batch.
    void count_ends(std::span<const Event> events);

    SQLite::Statement open_;
    SQLite::Statement stands_;
    SQLite::Statement open_many_;
    SQLite::Statement open_more_;
    SQLite::Statement reopen_;
    SQLite::Statement end_;
    SQLite::Statement count_;
    SQLite::Statement message_;
    SQLite::Statement recount_;
    SQLite::Statement copy_;
    SQLite::Statement turn_;
    SQLite::Statement attach_;
    SQLite::Statement uncertainty_;
    SQLite::Statement park_;
    SQLite::Statement seen_;
    SQLite::Statement interact_;
    SQLite::Statement suspend_;
    SQLite::Statement take_key_;
    SQLite::Statement hold_reset_;
    SQLite::Statement settle_;
    SQLite::Statement label_;
    SQLite::Statement background_;
    SQLite::Statement alive_;
    SQLite::Statement listened_;
    SQLite::Statement begin_life_;
    SQLite::Statement forget_lives_;
    SourceCounts counts_;
    SQLite::Statement ends_;
    SQLite::Statement newest_;
    SQLite::Statement event_;
    SQLite::Statement event_many_;
    DeliveryWriter deliveries_;
    ProcessWriter processes_;
};

}  // namespace knell::sqlite
