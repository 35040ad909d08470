#include "foreign/hermes/state_db.hpp"

#include <cmath>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "foreign/hermes/owners.hpp"
#include "foreign/hermes/sqlite_guard.hpp"
#include "wire/json.hpp"

namespace knell::hermes {

namespace {

/// Year 9999, past which a time cannot be written.
constexpr double seconds_max = 253'402'300'799.0;

std::optional<WallTime> time_of(const SQLite::Column& column) {
    if (column.isNull()) return std::nullopt;
    const double seconds = column.getDouble();
    if (!std::isfinite(seconds) || seconds < 0 || seconds > seconds_max) return std::nullopt;
    return from_millis(std::llround(seconds * 1000));
}

std::string text_of(const SQLite::Column& column) {
    return column.isNull() ? std::string{} : column.getString();
}

std::int64_t count_of(const SQLite::Column& column) {
    return std::max<std::int64_t>(column.isNull() ? 0 : column.getInt64(), 0);
}

SessionRow session_of(const SQLite::Statement& row) {
    SessionRow session;
    int next = 0;
    const auto column = [&] { return row.getColumn(next++); };
    session.id = text_of(column());
    session.source = text_of(column());
    session.key = text_of(column());
    session.user_id = text_of(column());
    session.chat_type = text_of(column());
    session.parent_id = text_of(column());
    session.model = text_of(column());
    session.model_config = text_of(column());
    session.title = text_of(column());
    session.cwd = text_of(column());
    session.started_at = time_of(column()).value_or(WallTime{});
    session.ended_at = time_of(column());
    session.end_reason = text_of(column());
    session.message_count = count_of(column());
    session.input_tokens = count_of(column());
    session.output_tokens = count_of(column());
    session.last_activity_at = time_of(column());
    session.finalized = count_of(column()) != 0;
    session.pinned = count_of(column()) != 0;
    session.messages = count_of(column());
    session.last_message_at = time_of(column());
    session.parent_is_there = !column().isNull();
    session.parent_end_reason = text_of(column());
    session.parent_started_at = time_of(column());
    session.has_children = count_of(column()) != 0;
    session.turn_holder = text_of(column());
    return session;
}

}  // namespace

StateDb::StateDb(Snapshot snapshot, std::string path, int schema)
    : snapshot_(std::move(snapshot)), path_(std::move(path)), schema_(schema) {}

bool StateDb::has(const char* table, const char* column) {
    SQLite::Statement query(
        snapshot_.database(),
        "SELECT count(*) FROM pragma_table_info(?1) WHERE ?2 IS NULL OR name = ?2");
    query.bindNoCopy(1, table);
    if (column != nullptr) query.bindNoCopy(2, column);
    return query.executeStep() && query.getColumn(0).getInt64() > 0;
}

std::string StateDb::column(const char* name) {
    return has("sessions", name) ? fmt::format("s.{}", name) : std::string("NULL");
}

Result<StateDb> StateDb::open(Snapshot snapshot, std::string path) {
    return guarded(path, [&]() -> Result<StateDb> {
        auto& database = snapshot.database();
        const bool is_hermes = database.tableExists("schema_version") &&
                               database.tableExists("sessions") && database.tableExists("messages");
        if (!is_hermes) {
            return fail(ErrorCode::invalid_request,
                        fmt::format("{} is not a database of Hermes: it lacks its tables", path));
        }
        const int schema =
            database.execAndGet("SELECT coalesce(max(version), 0) FROM schema_version").getInt();
        if (schema < schema_min) {
            return fail(ErrorCode::invalid_request,
                        fmt::format("{} has schema {} of Hermes; what is read here begins with {} "
                                    "(version 0.13 of May 2026). Start a newer Hermes once: it "
                                    "brings its store up to date",
                                    path, schema, schema_min));
        }
        return StateDb(std::move(snapshot), path, schema);
    });
}

Result<void> StateDb::for_each_session(
    const std::function<Result<void>(const SessionRow&)>& visit) {
    return guarded(path_, [&]() -> Result<void> {
        const auto lease =
            has("session_turn_leases", "holder")
                ? "(SELECT holder FROM session_turn_leases WHERE conversation_id = s.id)"
                : "NULL";
        SQLite::Statement rows(
            snapshot_.database(),
            fmt::format("SELECT s.id, s.source, {}, s.user_id, {}, s.parent_session_id, s.model, "
                        "s.model_config, s.title, {}, s.started_at, s.ended_at, s.end_reason, "
                        "s.message_count, s.input_tokens, s.output_tokens, {}, {}, {}, "
                        "(SELECT count(*) FROM messages m WHERE m.session_id = s.id), "
                        "(SELECT max(timestamp) FROM messages m WHERE m.session_id = s.id), "
                        "p.id, p.end_reason, p.started_at, "
                        "s.end_reason = 'compression' AND "
                        "EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id), {} "
                        "FROM sessions s LEFT JOIN sessions p ON p.id = s.parent_session_id "
                        "ORDER BY s.started_at, s.id",
                        column("session_key"), column("chat_type"), column("cwd"),
                        column("last_activity_at"), column("expiry_finalized"), column("pinned"),
                        lease));
        while (rows.executeStep()) {
            if (auto done = visit(session_of(rows)); !done) return done;
        }
        return {};
    });
}

Result<void> StateDb::for_each_message(const std::string& session_id, std::int64_t after,
                                       const std::function<Result<void>(MessageRow&&)>& visit) {
    return guarded(path_, [&]() -> Result<void> {
        SQLite::Statement rows(snapshot_.database(),
                               "SELECT id, timestamp, role, content, tool_name, token_count "
                               "FROM messages WHERE session_id = ?1 AND id > ?2 ORDER BY id");
        rows.bindNoCopy(1, session_id);
        rows.bind(2, after);
        while (rows.executeStep()) {
            MessageRow message{.id = rows.getColumn(0).getInt64(),
                               .at = time_of(rows.getColumn(1)).value_or(WallTime{}),
                               .role = text_of(rows.getColumn(2)),
                               .content = text_of(rows.getColumn(3)),
                               .tool_name = text_of(rows.getColumn(4)),
                               .tokens = count_of(rows.getColumn(5))};
            if (auto done = visit(std::move(message)); !done) return done;
        }
        return {};
    });
}

Result<std::int64_t> StateDb::count_orphan_messages() {
    return guarded(path_, [&]() -> Result<std::int64_t> {
        return snapshot_.database()
            .execAndGet(
                "SELECT coalesce(sum(n), 0) FROM (SELECT session_id, count(*) AS n FROM messages "
                "GROUP BY session_id) WHERE session_id NOT IN (SELECT id FROM sessions)")
            .getInt64();
    });
}

Result<std::vector<RoutingEntry>> StateDb::routing() {
    return guarded(path_, [&]() -> Result<std::vector<RoutingEntry>> {
        std::vector<RoutingEntry> entries;
        if (!has("gateway_routing", "entry_json")) return entries;
        SQLite::Statement rows(snapshot_.database(),
                               "SELECT session_key, entry_json FROM gateway_routing");
        while (rows.executeStep()) {
            const auto parsed = wire::parse_json(rows.getColumn(1).getString());
            if (!parsed || !parsed->is_object()) continue;  // nothing can be told by it
            const auto& entry = parsed->get_object();
            entries.push_back({.key = rows.getColumn(0).getString(),
                               .session_id = std::string(wire::text_at(entry, "session_id")),
                               .finalized = wire::bool_at(entry, "expiry_finalized") ||
                                            wire::bool_at(entry, "memory_flushed"),
                               .suspended = wire::bool_at(entry, "suspended")});
        }
        return entries;
    });
}

Result<std::vector<OwnerEntry>> StateDb::owners() {
    return guarded(path_, [&]() -> Result<std::vector<OwnerEntry>> {
        std::vector<OwnerEntry> owners;
        if (has("gateway_heartbeats", "pid")) {
            SQLite::Statement rows(snapshot_.database(),
                                   "SELECT pid, started_at, host FROM gateway_heartbeats");
            while (rows.executeStep()) {
                owners.push_back({.pid = rows.getColumn(0).getInt(),
                                  .started = rows.getColumn(1).getDouble(),
                                  .session_id = "",
                                  .host = text_of(rows.getColumn(2)),
                                  .where = "gateway_heartbeats"});
            }
        }
        if (has("compression_locks", "holder")) {
            SQLite::Statement rows(snapshot_.database(),
                                   "SELECT session_id, holder FROM compression_locks");
            while (rows.executeStep()) {
                const auto pid = pid_in_holder(text_of(rows.getColumn(1)));
                if (pid == 0) continue;
                owners.push_back({.pid = pid,
                                  .started = {},
                                  .session_id = rows.getColumn(0).getString(),
                                  .host = "",
                                  .where = "compression_locks"});
            }
        }
        return owners;
    });
}

}  // namespace knell::hermes
