#include "store/sqlite/event_scan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/limits.hpp"
#include "store/page_bytes.hpp"
#include "store/sqlite/row.hpp"
#include "store/sqlite/snapshot.hpp"

namespace knell::sqlite {

namespace {

/// Parameters, numbered because the session is not always there.
enum Parameter : int { after_parameter = 1, last_parameter, limit_parameter, session_parameter };

std::string sql_for(const EventQuery& query) {
    std::string where = "seq > ?1 AND seq <= ?2";
    if (!query.session_id.empty()) where += " AND session_id = ?4";
    if (!query.types.empty()) {
        std::string names;
        for (const auto type : query.types) {
            names +=
                fmt::format("{}'{}'", names.empty() ? "" : ",", name_in(event_type_names, type));
        }
        where += fmt::format(" AND type IN ({})", names);
    }
    // Within a session the order of (generation, place) is the order of seq.
    const auto* order = query.session_id.empty() ? "seq" : "generation, place";
    return fmt::format("SELECT {} FROM events WHERE {} ORDER BY {} LIMIT ?3", event_list(), where,
                       order);
}

/// A statement that is kept must not hold on to the snapshot it read.
class Rewind {
  public:
    explicit Rewind(sqlite3_stmt* statement) : statement_(statement) {}
    ~Rewind() { sqlite3_reset(statement_); }
    Rewind(const Rewind&) = delete;
    Rewind& operator=(const Rewind&) = delete;

  private:
    sqlite3_stmt* statement_;
};

}  // namespace

void EventScan::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

EventScan::EventScan(SQLite::Database& database)
    : database_(database),
      // Each on its own, so that SQLite goes straight to that end of the table.
      bounds_(prepare("SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)")),
      unfiltered_(prepare(sql_for({}))) {}

void EventScan::check(int code) const {
    if (code != SQLITE_OK) throw SQLite::Exception(database_.getHandle(), code);
}

EventScan::Statement EventScan::prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_.getHandle(), sql.c_str(), static_cast<int>(sql.size()),
                             &statement, nullptr));
    return Statement(statement);
}

std::pair<Seq, Seq> EventScan::bounds() {
    const Rewind rewind(bounds_.get());
    const int code = sqlite3_step(bounds_.get());
    if (code != SQLITE_ROW) throw SQLite::Exception(database_.getHandle(), code);
    return {sqlite3_column_int64(bounds_.get(), 0), sqlite3_column_int64(bounds_.get(), 1)};
}

void EventScan::take_rows(sqlite3_stmt* select, const EventQuery& query, Seq after, Seq last,
                          EventPage& page) const {
    const Rewind rewind(select);
    check(sqlite3_bind_int64(select, after_parameter, after));
    check(sqlite3_bind_int64(select, last_parameter, last));
    check(sqlite3_bind_int64(select, limit_parameter, static_cast<Seq>(query.limit)));
    if (const auto& id = query.session_id.text(); !id.empty()) {
        check(sqlite3_bind_text(select, session_parameter, id.data(), static_cast<int>(id.size()),
                                SQLITE_STATIC));
    }
    int code = SQLITE_ROW;
    std::size_t bytes = 0;
    while (bytes < query.bytes_max && (code = sqlite3_step(select)) == SQLITE_ROW) {
        page.events.push_back(read_event(select));
        bytes += page_bytes(page.events.back());
    }
    if (code == SQLITE_ROW) page.next = page.events.back().seq;
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        throw SQLite::Exception(database_.getHandle(), code);
}

EventPage EventScan::read(const EventQuery& query) {
    const Snapshot snapshot(database_);
    const auto [first, newest] = bounds();
    EventPage page{.events = {}, .next = query.after, .newest = newest, .gap = {}};
    const auto after = std::max(query.after, first - 1);
    if (after > query.after) page.gap = Gap{query.after + 1, after};
    if (after >= newest) return page;

    auto last = newest;
    if (!query.types.empty() && query.session_id.empty()) {
        last = std::min(newest, after + static_cast<Seq>(limits::events_scan_max));
    }
    if (query.wants_all()) {
        page.events.reserve(std::min(query.limit, static_cast<std::size_t>(last - after)));
    }
    const auto special = query.wants_all() ? nullptr : prepare(sql_for(query));
    page.next = last;
    take_rows(special ? special.get() : unfiltered_.get(), query, after, last, page);
    if (page.events.size() == query.limit) page.next = page.events.back().seq;
    return page;
}

}  // namespace knell::sqlite
