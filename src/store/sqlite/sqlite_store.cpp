#include "store/sqlite/sqlite_store.hpp"

#include <algorithm>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.hpp"
#include "base/mutex.hpp"
#include "store/archive.hpp"
#include "store/sqlite/backup.hpp"
#include "store/sqlite/file_presence.hpp"
#include "store/sqlite/fts_words.hpp"
#include "store/sqlite/message_index.hpp"
#include "store/sqlite/process_rows.hpp"
#include "store/sqlite/row.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_error.hpp"
#include "store/sqlite/sqlite_reader.hpp"
#include "store/sqlite/sqlite_writer.hpp"

namespace knell::sqlite {

namespace {

/// A checkpoint copies the log into the database.  When nobody waits it is done early, so that it
/// stays short; a log this long is copied even under load, or it would grow without bound.
constexpr int checkpoint_pages_idle = 1000;
constexpr int checkpoint_pages_max = 8000;

class SqliteStore final : public Store, public ArchiveStore {
  public:
    SqliteStore(const Location& location, SQLite::Database&& database)
        : location_(location),
          database_(std::move(database)),
          node_id_(
              database_.execAndGet("SELECT value FROM node WHERE name = 'node_id'").getString()),
          writer_(database_),
          index_(database_),
          finder_(database_),
          newest_of_key_(
              database_,
              fmt::format("SELECT {} FROM sessions INDEXED BY sessions_by_key "
                          "WHERE key = ? AND key_taken = 0 ORDER BY ordinal DESC LIMIT 1",
                          session_list())),
          begin_(database_, "BEGIN IMMEDIATE"),
          commit_(database_, "COMMIT"),
          presence_(location.path) {
        // Also switches SQLite's own checkpoints off.
        sqlite3_wal_hook(database_.getHandle(), &SqliteStore::count_pages, &log_pages_);
    }

    Result<void> commit(const Batch& batch) override {
        // The memory of what was written must not run ahead of the file that takes its place.
        if (lost_) return std::unexpected(*lost_);
        if (auto there = presence_.check(); !there) return there;
        return guarded(location_.path, [&]() -> Result<void> {
            if (log_pages_ >= checkpoint_pages_max) checkpoint();
            try {
                begin_.exec();
                begin_.reset();
                if (auto written = writer_.write(batch); !written) {
                    roll_back();
                    // What is wrong with the log stays wrong, whatever else can be written.
                    if (written.error().code == ErrorCode::storage) {
                        *log_problem_.lock() = written.error().message;
                    }
                    return written;
                }
                commit_.exec();
                commit_.reset();
            } catch (const SQLite::Exception&) {
                begin_.tryReset();
                commit_.tryReset();
                roll_back();
                throw;
            }
            // Deleted under this very transaction: it is in a file without a name, so nobody is
            // told that it was kept.  The engine takes it back, and must not meet it again.
            if (auto there = presence_.check(); !there) {
                lost_ = there.error();
                return there;
            }
            return {};
        });
    }

    Result<std::optional<Session>> find(const SessionId& id) override {
        return guarded(location_.path,
                       [&]() -> Result<std::optional<Session>> { return finder_.find(id); });
    }

    Result<std::optional<Session>> newest_of_key(const std::string& key) override {
        return guarded(location_.path, [&]() -> Result<std::optional<Session>> {
            Binder(newest_of_key_).text(key);
            return read_one(newest_of_key_);
        });
    }

    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return guarded(location_.path, [&]() -> Result<std::optional<Session>> {
            return finder_.newest_child(parent, relation);
        });
    }

    Result<void> for_each_open(const std::function<void(const Session&)>& visit) override {
        return guarded(location_.path, [&]() -> Result<void> {
            SQLite::Statement select(database_,
                                     fmt::format("SELECT {} FROM sessions INDEXED BY sessions_open "
                                                 "WHERE ended_at IS NULL ORDER BY ordinal",
                                                 session_list()));
            while (select.executeStep()) visit(read_session(select));
            return {};
        });
    }

    Result<void> for_each_unsettled(const std::function<void(const Session&)>& visit) override {
        return guarded(location_.path, [&]() -> Result<void> {
            SQLite::Statement select(
                database_,
                fmt::format("SELECT {} FROM sessions INDEXED BY sessions_unsettled WHERE "
                            "instr(leftovers, char(9) || 'stopping' || char(9)) > 0 "
                            "ORDER BY ordinal",
                            session_list()));
            while (select.executeStep()) visit(read_session(select));
            return {};
        });
    }

    Result<void> for_each_running_process(
        const std::function<void(const BackgroundProcess&)>& visit) override {
        return guarded(location_.path, [&]() -> Result<void> {
            visit_running(database_, visit);
            return {};
        });
    }

    Result<Heads> heads() override {
        return guarded(location_.path, [&]() -> Result<Heads> {
            Heads heads;
            heads.ordinal = highest("SELECT coalesce(max(ordinal), 0) FROM sessions");
            heads.process_number = highest("SELECT coalesce(max(number), 0) FROM processes");
            heads.seq = highest("SELECT coalesce(max(seq), 0) FROM events");
            heads.first_seq = highest("SELECT coalesce(min(seq), 0) FROM events");
            read_times(heads);
            return heads;
        });
    }

    Result<Seq> trim_events(Seq last, std::size_t rows_max) override {
        return guarded(location_.path, [&]() -> Result<Seq> {
            const auto newest = highest("SELECT coalesce(max(seq), 0) FROM events");
            const auto first = highest("SELECT coalesce(min(seq), 0) FROM events");
            const auto to_go = std::min({last, newest - 1, first + static_cast<Seq>(rows_max) - 1});
            if (to_go < first) return first;
            SQLite::Statement remove(database_, "DELETE FROM events WHERE seq <= ?");
            Binder(remove).number(to_go).run();
            return highest("SELECT coalesce(min(seq), 0) FROM events");
        });
    }

    Result<void> save_log_age(const LogAge& age, std::optional<LogMark> mark,
                              Seq forget_until) override {
        return guarded(location_.path, [&]() -> Result<void> {
            SQLite::Transaction transaction(database_);
            SQLite::Statement save(database_, "INSERT OR REPLACE INTO node VALUES (?, ?)");
            const auto keep = [&](const std::string& name, const std::string& value) {
                Binder(save).text(name).text(value).run();
            };
            using std::chrono::milliseconds;
            const auto boot = std::chrono::floor<milliseconds>(age.boot.time_since_epoch());
            keep("log_age_ms", std::to_string(age.age.count()));
            keep("log_age_boot_id", age.boot_id);
            keep("log_age_boot_ms", std::to_string(boot.count()));
            if (mark) {
                SQLite::Statement insert(database_,
                                         "INSERT OR REPLACE INTO log_marks VALUES (?, ?)");
                Binder(insert).number(mark->seq).number(mark->age.count()).run();
            }
            SQLite::Statement forget(database_, "DELETE FROM log_marks WHERE seq <= ?");
            Binder(forget).number(forget_until).run();
            transaction.commit();
            return {};
        });
    }

    Result<bool> index_messages(std::size_t messages_max, std::size_t bytes_max) override {
        if (!index_.is_behind()) return false;
        if (auto there = presence_.check(); !there) return std::unexpected(there.error());
        return guarded(location_.path, [&]() -> Result<bool> {
            if (log_pages_ >= checkpoint_pages_max) checkpoint();
            try {
                return index_.catch_up(messages_max, bytes_max);
            } catch (const SQLite::Exception&) {
                roll_back();
                throw;
            }
        });
    }

    Result<void> maintain() override {
        return guarded(location_.path, [&]() -> Result<void> {
            if (log_pages_ >= checkpoint_pages_idle && presence_.check()) checkpoint();
            return {};
        });
    }

    Result<std::unique_ptr<Reader>> open_reader() override {
        return sqlite::open_reader(location_);
    }

    StoreFacts facts() const override {
        std::int64_t bytes = 0;
        for (const auto* suffix : {"", "-wal"}) {
            std::error_code absent;
            const auto size = std::filesystem::file_size(location_.path + suffix, absent);
            if (!absent) bytes += static_cast<std::int64_t>(size);
        }
        const auto there = presence_.check();
        return {
            "sqlite",        location_.path, sqlite3_libversion(),
            newest_schema(), bytes,          there ? *log_problem_.lock() : there.error().message};
    }

    const std::string& node_id() const override { return node_id_; }

  private:
    mutable Guarded<std::string> log_problem_;  // why no event can be written until a restart

    static int count_pages(void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
    }

    void read_times(Heads& heads) {
        using std::chrono::milliseconds;
        LogAge age;
        bool has_age = false;
        LastWord word;
        bool has_word = false;
        SQLite::Statement facts(database_, "SELECT name, value FROM node");
        while (facts.executeStep()) {
            const auto name = facts.getColumn(0).getString();
            const auto number = [&] { return milliseconds{facts.getColumn(1).getInt64()}; };
            if (name == "listened_ms") heads.listened = SteadyTime{number()};
            if (name == "log_age_ms") age.age = number();
            if (name == "log_age_boot_ms") age.boot = SteadyTime{number()};
            if (name == "alive_boot_ms") word.boot = SteadyTime{number()};
            if (name == "alive_boot_id") word.boot_id = facts.getColumn(1).getString();
            if (name == "alive_at") {
                word.at = from_millis(number().count());
                has_word = true;
            }
            if (name != "log_age_boot_id") continue;
            age.boot_id = facts.getColumn(1).getString();
            has_age = true;
        }
        if (has_age) heads.log_age = std::move(age);
        if (has_word) heads.last_word = std::move(word);
        SQLite::Statement lives(database_, "SELECT began_ms FROM lives ORDER BY began_ms");
        while (lives.executeStep()) {
            heads.lives.emplace_back(milliseconds{lives.getColumn(0).getInt64()});
        }
        SQLite::Statement marks(database_, "SELECT seq, age_ms FROM log_marks ORDER BY seq");
        while (marks.executeStep()) {
            heads.log_marks.push_back(
                {marks.getColumn(0).getInt64(), milliseconds{marks.getColumn(1).getInt64()}});
        }
    }

    std::int64_t highest(const char* sql) { return database_.execAndGet(sql).getInt64(); }

    /// A checkpoint that fails loses nothing (the log keeps all) and is tried again later.
    void checkpoint() {
        sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                  nullptr, nullptr);
        log_pages_ = 0;
    }

    void roll_back() {
        // SQLite may have rolled back by itself, on a full disk for one.
        if (sqlite3_get_autocommit(database_.getHandle()) != 0) return;
        sqlite3_exec(database_.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
        CHECK(sqlite3_get_autocommit(database_.getHandle()) != 0);
    }

    const Location location_;
    SQLite::Database database_;
    const std::string node_id_;
    BatchWriter writer_;
    MessageIndex index_;
    SessionFinder finder_;
    SQLite::Statement newest_of_key_;
    SQLite::Statement begin_;
    SQLite::Statement commit_;
    const FilePresence presence_;  // after the statements: by then all files are open
    std::optional<Error> lost_;    // a commit went into a deleted file; nothing more is taken
    int log_pages_ = 0;
};

/// SQLite counts each allocation under one lock, for figures that nobody reads.  Only before its
/// first use; later the call has no effect.
void configure_library() {
    static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    static_cast<void>(once);
}

void set_checkpoint_on_close(SQLite::Database& database, bool wanted) {
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wanted ? 0 : 1,
                      nullptr);
}

void prepare(SQLite::Database& database) {
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA cache_size = -65536");
    migrate(database);
    database.exec("INSERT OR IGNORE INTO node VALUES ('node_id', lower(hex(randomblob(8))))");
}

Result<void> back_up_if_older(SQLite::Database& database, const Location& location) {
    const auto schema = schema_of(database);
    // A file layer of a test has files of its own.
    if (schema == 0 || schema == newest_schema() || !location.vfs.empty()) return {};
    const auto made = back_up(database, location.path, schema);
    if (!made) return std::unexpected(made.error());
    if (*made && location.on_backup) location.on_backup(**made);
    return {};
}

/// SQLite takes an empty database for a new one and deletes the log that lies beside it: what was
/// acknowledged would be gone without a word.
Result<void> check_not_emptied(const std::string& path) {
    std::error_code absent;
    const auto log_bytes = std::filesystem::file_size(path + "-wal", absent);
    if (absent || log_bytes == 0) return {};
    const auto bytes = std::filesystem::file_size(path, absent);
    if (absent || bytes > 0) return {};
    return fail(ErrorCode::storage,
                fmt::format("{} is empty, but its log {}-wal is not: it was truncated; nothing was "
                            "changed. Move both and {}-shm aside and restore a backup",
                            path, path, path));
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(const Location& location) {
    configure_library();
    if (location.vfs.empty()) {
        if (auto checked = check_not_emptied(location.path); !checked) {
            return std::unexpected(std::move(checked.error()));
        }
    }
    return guarded(location.path, [&]() -> Result<std::unique_ptr<Store>> {
        // One thread at a time uses a connection, so SQLite need not lock each call.
        SQLite::Database database(
            location.path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX,
            /*aBusyTimeoutMs=*/2000, location.vfs);
        // Closing would copy a log that a crash left into the database: a store that is refused
        // must stay as it was found.
        set_checkpoint_on_close(database, /*wanted=*/false);
        database.check(add_search_functions(
            database.getHandle()));  // a check of the whole file reads the index, too
        if (auto usable = inspect(database, location.path); !usable) {
            return std::unexpected(usable.error());
        }
        if (auto kept = back_up_if_older(database, location); !kept) {
            return std::unexpected(kept.error());
        }
        set_checkpoint_on_close(database, /*wanted=*/true);
        prepare(database);
        return std::make_unique<SqliteStore>(location, std::move(database));
    });
}

}  // namespace knell::sqlite
