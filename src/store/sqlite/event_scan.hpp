#pragma once

#include <memory>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/store.hpp"

namespace knell::sqlite {

/// Reads the log page by page.  Through SQLite's own interface: the wrapper's counted references
/// cost as much as the rows.  Throws SQLite::Exception.
class EventScan {
  public:
    explicit EventScan(SQLite::Database& database);

    EventPage read(const EventQuery& query);

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

    Statement prepare(const std::string& sql) const;
    void check(int code) const;
    /// The first and the last number in the log; 0 and 0 when it is empty.
    std::pair<Seq, Seq> bounds();
    void take_rows(sqlite3_stmt* select, const EventQuery& query, Seq after, Seq last,
                   EventPage& page) const;

    SQLite::Database& database_;
    const Statement bounds_;
    const Statement unfiltered_;
};

}  // namespace knell::sqlite
