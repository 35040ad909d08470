#include "store/sqlite/store_check.hpp"

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/event.hpp"
#include "store/sqlite/backup.hpp"
#include "store/sqlite/row.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/snapshot.hpp"
#include "store/sqlite/sqlite_error.hpp"

namespace knell::sqlite {

namespace {

constexpr std::int64_t trivial_max = 5;

std::int64_t number(SQLite::Database& database, const std::string& sql) {
    return database.execAndGet(sql).getInt64();
}

/// Of today's schema, and ours.
Result<void> check_schema(SQLite::Database& database, const std::string& path) {
    if (auto usable = inspect(database, path); !usable) return usable;
    const auto schema = schema_of(database);
    if (schema == newest_schema()) return {};
    return fail(
        ErrorCode::storage,
        fmt::format("{} has schema {}, and this knell reads {}. Start its daemon once, which "
                    "brings it up to date: knell up --detach",
                    path, schema, newest_schema()));
}

void count_sessions(SQLite::Database& database, StoreCensus& census) {
    SQLite::Statement sources(
        database,
        "SELECT source, count(*), sum(ended_at IS NULL), sum(leftovers_policy IS NOT NULL), "
        "sum(leftovers_policy IS NULL AND message_count = 0), "
        "sum(leftovers_policy IS NULL AND message_count BETWEEN 1 AND ?1), "
        "sum(leftovers_policy IS NULL AND message_count > ?1) FROM sessions GROUP BY source");
    sources.bind(1, trivial_max);
    while (sources.executeStep()) {
        const auto at = [&](int column) { return sources.getColumn(column).getInt64(); };
        census.sources[sources.getColumn(0).getString()] = {at(1), at(2)};
        census.sessions += at(1);
        census.open += at(2);
        census.commands += at(3);
        census.empty += at(4);
        census.trivial += at(5);
        census.substantial += at(6);
    }
    SQLite::Statement ends(database,
                           "SELECT reason, coalesce(proof, ''), count(*) FROM sessions "
                           "WHERE ended_at IS NOT NULL GROUP BY 1, 2");
    while (ends.executeStep()) {
        const auto reason = ends.getColumn(0).isNull() ? "" : ends.getColumn(0).getString();
        auto proof = ends.getColumn(1).getString();
        // Of what ended before it was written down: what its reason usually has.
        const auto known = parse_reason(reason);
        if (proof.empty() && known)
            proof = proof_names.at(static_cast<std::size_t>(row_of(*known).proof));
        census.ends[{reason, proof}] += ends.getColumn(2).getInt64();
    }
    census.messages = number(database, "SELECT count(*) FROM messages");
    census.events = number(database, "SELECT count(*) FROM events");
    const std::string removed = database.tableExists("tombstones")
                                    ? " AND parent_id NOT IN (SELECT id FROM tombstones)"
                                    : "";
    census.orphans = number(database,
                            "SELECT count(*) FROM sessions WHERE parent_id IS NOT NULL "
                            "AND parent_id NOT IN (SELECT id FROM sessions)" +
                                removed);
    const auto page = number(database, "PRAGMA page_size");
    census.bytes = page * number(database, "PRAGMA page_count");
    census.free_bytes = page * number(database, "PRAGMA freelist_count");
    SQLite::Statement open(database,
                           fmt::format("SELECT {} FROM sessions INDEXED BY sessions_open "
                                       "WHERE ended_at IS NULL ORDER BY ordinal DESC LIMIT ?",
                                       session_list()));
    open.bind(1, static_cast<std::int64_t>(StoreCensus::rows_max));
    while (open.executeStep()) census.open_rows.push_back(read_session(open));
}

/// One kind of fault: `sql` gives the session and what is wrong with it.
void look_for(SQLite::Database& database, StoreCensus& census, StoreFault::Kind kind,
              const std::string& sql) {
    SQLite::Statement rows(database, sql);
    while (rows.executeStep()) {
        ++census.fault_count;
        if (census.faults.size() >= StoreCensus::rows_max) continue;
        const auto session = rows.getColumn(0);
        census.faults.push_back(
            {kind, session.isNull() ? "" : session.getString(), rows.getColumn(1).getString()});
    }
}

constexpr auto miscounted =
    "SELECT id, 'message_count is ' || message_count || ', and there are ' || n FROM (SELECT id, "
    "message_count, (SELECT count(*) FROM messages m WHERE m.session = s.ordinal) AS n "
    "FROM sessions s) WHERE message_count <> n";

void look_for_faults(SQLite::Database& database, StoreCensus& census) {
    using Kind = StoreFault::Kind;
    const std::string end(name_in(event_type_names, EventType::session_end));
    look_for(database, census, Kind::message_count, miscounted);
    look_for(database, census, Kind::message_numbers,
             "SELECT s.id, n || ' messages, numbered up to ' || last FROM (SELECT session, "
             "count(*) AS n, max(number) AS last FROM messages GROUP BY session) "
             "JOIN sessions s ON s.ordinal = session WHERE n <> last");
    look_for(database, census, Kind::orphan_messages,
             "SELECT NULL, n || ' messages of row ' || session || ', which is not there' FROM "
             "(SELECT session, count(*) AS n FROM messages GROUP BY session) "
             "WHERE session NOT IN (SELECT ordinal FROM sessions)");
    look_for(database, census, Kind::event_numbers,
             "SELECT NULL, 'events ' || first || ' to ' || last || ' are ' || n FROM (SELECT "
             "min(seq) AS first, max(seq) AS last, count(*) AS n FROM events) "
             "WHERE n > 0 AND last - first + 1 <> n");
    look_for(database, census, Kind::ends,
             "SELECT session_id, 'generation ' || generation || ' has ' || count(*) || ' ends' "
             "FROM events WHERE type = '" +
                 end + "' GROUP BY session_id, generation HAVING count(*) > 1");
    look_for(database, census, Kind::ends,
             "SELECT s.id, 'is open, and the end of its generation ' || s.generation || ' was "
             "told' FROM sessions s JOIN events e ON e.session_id = s.id AND e.generation = "
             "s.generation AND e.type = '" +
                 end + "' WHERE s.ended_at IS NULL");
    look_for(database, census, Kind::no_reason,
             "SELECT id, 'ended without a reason' FROM sessions INDEXED BY sessions_leaked "
             "WHERE ended_at IS NOT NULL AND reason IS NULL");
    look_for(database, census, Kind::damage,
             "SELECT NULL, quick_check FROM pragma_quick_check(100) WHERE quick_check <> 'ok'");
}

}  // namespace

Result<StoreCensus> take_census(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        return fail(
            ErrorCode::not_found,
            fmt::format("there is no store {} yet; a daemon makes it: knell up --detach", path));
    }
    return guarded(path, [&]() -> Result<StoreCensus> {
        SQLite::Database database(path, SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX,
                                  /*aBusyTimeoutMs=*/2000);
        if (auto usable = check_schema(database, path); !usable) {
            return std::unexpected(usable.error());
        }
        const Snapshot moment(database);
        StoreCensus census;
        census.schema = schema_of(database);
        count_sessions(database, census);
        look_for_faults(database, census);
        return census;
    });
}

Result<StoreRepair> repair_store(const std::string& path, WallTime now) {
    return guarded(path, [&]() -> Result<StoreRepair> {
        SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX,
                                  /*aBusyTimeoutMs=*/2000);
        if (auto usable = check_schema(database, path); !usable) {
            return std::unexpected(usable.error());
        }
        StoreRepair repair;
        const auto wrong = number(database, fmt::format("SELECT count(*) FROM ({})", miscounted));
        if (wrong == 0) return repair;
        database.exec("PRAGMA synchronous = FULL");
        auto stamp = format_rfc3339(now).substr(0, 19);
        std::erase_if(stamp, [](char letter) { return letter == '-' || letter == ':'; });
        auto kept = copy_store(database, fmt::format("{}.before-repair-{}Z", path, stamp));
        if (!kept) return std::unexpected(kept.error());
        repair.backup = std::move(*kept);
        SQLite::Transaction transaction(database);
        repair.rows = database.exec(
            "UPDATE sessions SET message_count = (SELECT count(*) FROM messages m "
            "WHERE m.session = sessions.ordinal) WHERE message_count <> (SELECT count(*) "
            "FROM messages m WHERE m.session = sessions.ordinal)");
        transaction.commit();
        return repair;
    });
}

}  // namespace knell::sqlite
