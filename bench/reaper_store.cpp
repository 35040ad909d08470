#include "reaper_store.hpp"

#include <fstream>

#include <fmt/format.h>

namespace knell::bench {

namespace {

constexpr std::int64_t far_away = 1'000'000'000;

}  // namespace

ReaperStore::ReaperStore(const Lab& lab, std::size_t others) : home_(lab.new_home()) {
    const auto path = home_->path() + "/reaper.db";
    std::ofstream{path};  // an empty file is an empty database
    database_.emplace(path, /*durable=*/true);
    database_->exec(
        "CREATE TABLE sessions (id INTEGER PRIMARY KEY, source TEXT NOT NULL, "
        "last_heartbeat_at INTEGER, ended_at INTEGER, end_reason TEXT)");
    beat_ = std::make_unique<RawStatement>(
        *database_, "UPDATE sessions SET last_heartbeat_at = ?2 WHERE id = ?1");
    sweep_ = std::make_unique<RawStatement>(
        *database_, fmt::format("UPDATE sessions SET ended_at = ?1, end_reason = 'reaped' "
                                "WHERE ended_at IS NULL AND last_heartbeat_at < ?1 - {}",
                                reaper_stale_s));
    open(others, far_away);
}

std::int64_t ReaperStore::open(std::size_t count, std::int64_t at) {
    RawStatement insert(*database_, fmt::format("INSERT INTO sessions (source, last_heartbeat_at) "
                                                "VALUES ('bench', {})",
                                                at));
    database_->exec("BEGIN");
    for (std::size_t i = 0; i < count; ++i) {
        insert.step();
        insert.reset();
    }
    database_->exec("COMMIT");
    return sqlite3_last_insert_rowid(database_->handle()) - static_cast<std::int64_t>(count) + 1;
}

void ReaperStore::beat(std::int64_t id, std::int64_t at) {
    sqlite3_bind_int64(beat_->handle(), 1, id);
    sqlite3_bind_int64(beat_->handle(), 2, at);
    beat_->step();
    beat_->reset();
}

int ReaperStore::sweep(std::int64_t now) {
    sqlite3_bind_int64(sweep_->handle(), 1, now);
    sweep_->step();
    sweep_->reset();
    return sqlite3_changes(database_->handle());
}

}  // namespace knell::bench
