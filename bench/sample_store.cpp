#include "sample_store.hpp"

#include <fmt/format.h>

#include "base/uuid.hpp"
#include "daemon_under_test.hpp"
#include "engine/state.hpp"
#include "journal/journal.hpp"
#include "must.hpp"
#include "platform/clock.hpp"
#include "platform/directories.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t rows_per_transaction = 10'000;

std::int64_t highest(const RawDatabase& database, const char* sql) {
    RawStatement select(database, sql);
    select.step();
    return sqlite3_column_int64(select.handle(), 0);
}

std::string pattern(bool ended) {
    return ended ? "'pattern-ended'" : "'pattern-open'";
}

}  // namespace

Session plain_session() {
    Session session;
    session.source = "bench";
    session.owner.kind = OwnerKind::lease;
    session.owner.lease_ttl = std::chrono::seconds{45};
    session.owner.host = "bench";
    return session;
}

Session lifelike_session() {
    auto session = plain_session();
    session.key = "agent:main:telegram:dm:42";
    session.platform = "telegram";
    session.user_id = "42";
    session.title = "Refactor the billing importers";
    session.cwd = "/home/ada/projects/billing";
    return session;
}

void make_store(const std::string& home, const Session& draft) {
    const auto paths = paths_in(home);
    must(make_private_directories(paths.state_dir));
    const auto store = must(sqlite::open_store({.path = paths.store_file, .vfs = {}}));
    State state;
    Journal journal(state, *store);
    must(journal.recover(read_clocks(), ""));
    const SessionId open("pattern-open");
    const SessionId ended("pattern-ended");
    std::vector<Input> inputs;
    for (const auto& id : {open, ended}) {
        Create create{.draft = draft};
        create.draft.id = id;
        inputs.emplace_back(std::move(create));
    }
    inputs.emplace_back(Close{.session_id = ended, .said_by = "process 4242 (uid 1000)"});
    for (auto& reply : journal.commit(std::move(inputs), read_clocks()).replies) {
        must(std::move(reply));
    }
}

SessionCopier::SessionCopier(const RawDatabase& database, bool ended)
    : ended_(ended),
      session_(database, "sessions", "id = " + pattern(ended)),
      start_(database, "events", "session_id = " + pattern(ended) + " AND type = 'session:start'"),
      ordinal_column_(session_.column("ordinal")),
      id_column_(session_.column("id")),
      seq_column_(start_.column("seq")),
      event_id_column_(start_.column("session_id")),
      ordinal_(highest(database, "SELECT max(ordinal) FROM sessions")),
      seq_(highest(database, "SELECT max(seq) FROM events")) {
    if (!ended) return;
    end_ = std::make_unique<RowCopier>(
        database, "events", "session_id = " + pattern(ended) + " AND type = 'session:end'");
}

void SessionCopier::insert() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    id_ = make_uuid7(read_clocks().wall, {random_ >> 32U, random_});
    session_.set(ordinal_column_, ++ordinal_);
    session_.set(id_column_, std::string_view(id_));
    session_.insert();
    start_.set(seq_column_, ++seq_);
    start_.set(event_id_column_, std::string_view(id_));
    start_.insert();
    if (!ended_) return;
    end_->set(seq_column_, ++seq_);
    end_->set(event_id_column_, std::string_view(id_));
    end_->insert();
}

void fill_store_with_leases(const std::string& home, std::size_t count) {
    constexpr std::int64_t an_hour = 3600;
    int column = -1;
    fill_store(home, /*ended=*/false, count, [&](std::size_t number, RowCopier& row) {
        if (number > 0) return;  // a value stays until it is set again
        column = row.column("owner_lease_ttl_s");
        row.set(column, an_hour);
    });
}

void fill_store(const std::string& home, bool ended, std::size_t count,
                const std::function<void(std::size_t number, RowCopier& row)>& shape) {
    RawDatabase database(paths_in(home).store_file, /*durable=*/false);
    SessionCopier copier(database, ended);
    for (std::size_t done = 0; done < count; ++done) {
        if (done % rows_per_transaction == 0) database.exec("BEGIN");
        shape(done, copier.row());
        copier.insert();
        if ((done + 1) % rows_per_transaction == 0 || done + 1 == count) database.exec("COMMIT");
    }
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace knell::bench
