#include "foreign/hermes/fix.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "foreign/hermes/home.hpp"
#include "foreign/hermes/sqlite_guard.hpp"
#include "foreign/hermes/state_db.hpp"
#include "platform/fd.hpp"

namespace knell::hermes {

namespace {

constexpr auto reason = "reaped";

std::unexpected<Error> in_use(const std::string& why) {
    return fail(ErrorCode::blocked,
                fmt::format("nothing was changed: {}. Stop Hermes, its gateway and whatever else "
                            "has state.db open, then try again",
                            why));
}

/// The rows that are dead, and the figures before.
struct Plan {
    Fix fix;
    std::vector<DeadRow> dead;
};

Result<Plan> plan(const std::string& dir, const ProcessView& view) {
    auto home = Home::open(dir, view);
    if (!home) return std::unexpected(home.error());
    if (home->judge().is_in_use()) return in_use(home->judge().in_use());
    Plan plan;
    plan.fix.database = home->database_path();
    auto& share = plan.fix.before;
    const auto read = home->state().for_each_session([&](const SessionRow& row) -> Result<void> {
        ++share.count;
        if (row.ended_at) return {};
        ++share.open;
        const auto verdict = home->judge().judge(row);
        if (verdict.verdict == Verdict::dead) {
            plan.dead.push_back({row.id, row.source, row.last_sign()});
            ++plan.fix.by_source[row.source];
            return {};
        }
        if (verdict.verdict == Verdict::alive) ++share.alive;
        plan.fix.left_alone.push_back({.id = row.id,
                                       .source = row.source,
                                       .started_at = row.started_at,
                                       .last_sign = row.last_sign(),
                                       .messages = row.messages,
                                       .verdict = verdict.verdict,
                                       .why = verdict.evidence});
        return {};
    });
    if (!read) return std::unexpected(read.error());
    if (!home->state().snapshot().is_valid()) return in_use("it was written to just now");
    plan.fix.ended = static_cast<std::int64_t>(plan.dead.size());
    plan.fix.after = share;
    plan.fix.after.open -= plan.fix.ended;
    return plan;
}

/// What a copy must have in common with what it is of.
std::string figures_of(SQLite::Database& database) {
    return fmt::format(
        "{} {} {} {}", database.execAndGet("SELECT count(*) FROM sessions").getInt64(),
        database.execAndGet("SELECT count(*) FROM sessions WHERE ended_at IS NULL").getInt64(),
        database.execAndGet("SELECT count(*) FROM messages").getInt64(),
        database.execAndGet("SELECT coalesce(max(id), 0) FROM messages").getInt64());
}

std::unexpected<Error> no_backup(const std::string& path, std::string_view why) {
    return fail(ErrorCode::storage,
                fmt::format("nothing was changed: {} cannot be made and read back ({}). Free as "
                            "much space as the store takes, then try again",
                            path, why));
}

/// "" when the copy is whole and the same, else what is wrong with it.
std::string copy_into(SQLite::Database& database, const std::string& path) {
    try {
        {
            SQLite::Database target(path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
            target.exec("PRAGMA synchronous = OFF");  // it is synced before anybody counts on it
            SQLite::Backup backup(target, database);
            backup.executeStep();
        }
        SQLite::Database copy(path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
        const auto said = copy.execAndGet("PRAGMA quick_check").getString();
        // untestable: a copy that is not the same
        if (said != "ok") return said;
        return figures_of(copy) == figures_of(database) ? "" : "they differ";
    } catch (const SQLite::Exception& exception) {
        // untestable: a disk that fills up
        return exception.what();
    }
}

/// Copies the database, as this connection has it under its lock, and reads the copy back.
Result<void> back_up(SQLite::Database& database, const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return no_backup(path, std::strerror(errno));
    auto why = copy_into(database, path);
    if (why.empty() && ::fsync(file.get()) != 0) why = std::strerror(errno);
    if (why.empty()) return {};
    // untestable: see above
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return no_backup(path, why);
}

bool has_column(SQLite::Database& database, const char* name) {
    SQLite::Statement query(database,
                            "SELECT count(*) FROM pragma_table_info('sessions') WHERE name = ?");
    query.bindNoCopy(1, name);
    return query.executeStep() && query.getColumn(0).getInt64() > 0;
}

/// Those that stand as they were judged; gives how many.
std::int64_t end_rows(SQLite::Database& database, const std::vector<DeadRow>& rows) {
    const std::string activity =
        has_column(database, "last_activity_at") ? "coalesce(last_activity_at, 0)" : "0";
    const auto last = fmt::format(
        "max(started_at, {}, coalesce((SELECT max(timestamp) FROM messages m "
        "WHERE m.session_id = sessions.id), 0))",
        activity);
    SQLite::Statement end(database, fmt::format("UPDATE sessions SET ended_at = {0}, "
                                                "end_reason = '{1}' WHERE id = ?1 "
                                                "AND ended_at IS NULL AND {0} <= ?2",
                                                last, reason));
    std::int64_t ended = 0;
    for (const auto& row : rows) {
        end.reset();
        end.bindNoCopy(1, row.id);
        // Times are kept here by the millisecond.
        end.bind(2, (static_cast<double>(to_millis(row.last_sign)) + 1) / 1000);
        ended += end.exec();
    }
    return ended;
}

std::string backup_path(const std::string& database, WallTime now) {
    auto stamp = format_rfc3339(now).substr(0, 19);
    std::erase_if(stamp, [](char letter) { return letter == '-' || letter == ':'; });
    return fmt::format("{}.before-knell-{}Z", database, stamp);
}

}  // namespace

Result<Fix> plan_fix(const std::string& dir, const ProcessView& view) {
    auto planned = plan(dir, view);
    if (!planned) return std::unexpected(planned.error());
    return std::move(planned->fix);
}

Result<Fix> fix(const std::string& dir, const ProcessView& view, WallTime now) {
    auto planned = plan(dir, view);
    if (!planned) return std::unexpected(planned.error());
    auto& fix = planned->fix;
    if (planned->dead.empty()) return std::move(fix);
    return guarded(fix.database, [&]() -> Result<Fix> {
        SQLite::Database database(fix.database, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
        try {
            // Nobody else can read or write it from here on: in this mode the lock stays behind the
            // transaction, and what is copied must not be in one.  No other descriptor of the file
            // may be closed in this process now: that would take the lock off.
            database.exec("PRAGMA locking_mode = EXCLUSIVE");
            database.exec("BEGIN EXCLUSIVE");
            database.exec("COMMIT");
        } catch (const SQLite::Exception& exception) {
            return in_use(fmt::format("its lock cannot be had ({})", exception.what()));
        }
        // Who came in between has it open still, or has left its traces in the rows.
        const auto files = find_file_holders({fix.database});
        auto holders = files.holders;
        std::ranges::move(possible_holders(files), std::back_inserter(holders));
        if (!holders.empty()) {
            return in_use(fmt::format("process {} ({}) has it open", holders.front().pid,
                                      holders.front().command));
        }
        fix.backup = backup_path(fix.database, now);
        if (auto kept = back_up(database, fix.backup); !kept) return std::unexpected(kept.error());
        database.exec("BEGIN IMMEDIATE");
        const auto planned_count = std::ssize(planned->dead);
        fix.ended = end_rows(database, planned->dead);
        fix.changed = planned_count - fix.ended;
        database.exec("COMMIT");
        fix.after.open = fix.before.open - fix.ended;
        return std::move(fix);
    });
}

}  // namespace knell::hermes
