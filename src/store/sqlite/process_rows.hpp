#pragma once

#include <functional>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/error.hpp"
#include "store/sqlite/statement_cache.hpp"
#include "store/store.hpp"

namespace knell::sqlite {

/// The statements that write what is on record of background processes.  As BatchWriter.
class ProcessWriter {
  public:
    explicit ProcessWriter(SQLite::Database& database);

    /// Whether its row was there, as it was decided for.
    bool put(const ProcessOpened& change);
    bool put(const ProcessEnded& change);
    bool put(const ProcessMarked& change);
    bool put(const ProcessVouched& change);
    bool put(const ProcessStopAsked& change);
    bool put(const ProcessHandedOver& change);

    /// What stands in the way of a change whose row was not there.
    Error conflict(const Change& change);

  private:
    SQLite::Statement open_;
    SQLite::Statement end_;
    SQLite::Statement mark_;
    SQLite::Statement vouch_;
    SQLite::Statement ask_stop_;
    SQLite::Statement hand_over_;
    SQLite::Statement stands_;
};

ProcessPage read_processes(StatementCache& statements, const ProcessQuery& query);
/// The newest of that id.
std::optional<ProcessOnRecord> read_process(SQLite::Database& database, const ProcessId& id);
/// Those whose exit is not on record, the oldest first.
void visit_running(SQLite::Database& database,
                   const std::function<void(const BackgroundProcess&)>& visit);

}  // namespace knell::sqlite
