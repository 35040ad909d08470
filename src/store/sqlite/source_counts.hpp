#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/batch.hpp"
#include "store/stats.hpp"

namespace knell::sqlite {

/// Counts what a batch does by hour and source, and writes that once, at its end.  Throws
/// SQLite::Exception.
class SourceCounts {
  public:
    explicit SourceCounts(SQLite::Database& database);

    /// Nothing is counted yet: the batch before may have failed.
    void begin() { counts_.clear(); }
    /// Its session is on record.
    void note(const Appended& change);
    void note(const Event& event);
    void write();

  private:
    std::map<std::pair<std::int64_t, std::string>, DayStats> counts_;  // by hour and source
    SQLite::Statement source_;
    SQLite::Statement add_;
    SQLite::Statement add_ends_;
};

Stats read_stats(SQLite::Database& database, WallTime since);

}  // namespace knell::sqlite
