#include "store/sqlite/sqlite_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "store/archive.hpp"
#include "store/page_bytes.hpp"
#include "store/sqlite/delivery_rows.hpp"
#include "store/sqlite/event_scan.hpp"
#include "store/sqlite/fts_words.hpp"
#include "store/sqlite/message_search.hpp"
#include "store/sqlite/process_rows.hpp"
#include "store/sqlite/readable_text.hpp"
#include "store/sqlite/row.hpp"
#include "store/sqlite/session_pages.hpp"
#include "store/sqlite/session_query.hpp"
#include "store/sqlite/snapshot.hpp"
#include "store/sqlite/source_counts.hpp"
#include "store/sqlite/sqlite_error.hpp"
#include "store/sqlite/statement_cache.hpp"

namespace knell::sqlite {

namespace {

class SqliteReader final : public Reader, public ArchiveReader {
  public:
    explicit SqliteReader(const Location& location)
        : path_(location.path),
          database_(location.path, SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX,
                    /*aBusyTimeoutMs=*/2000, location.vfs),
          finder_(with_search(database_)),
          statements_(database_),
          events_(database_),
          search_(database_),
          messages_(database_,
                    "SELECT role, content, tool_name, tokens, number FROM messages WHERE "
                    "session = ? AND number < ? ORDER BY number DESC LIMIT ?") {}

    Result<SessionPage> list(const SessionQuery& query) override {
        return guarded(path_, [&]() -> Result<SessionPage> { return read_page(query); });
    }

    Result<EndedPage> latest_ended(const EndedQuery& query) override {
        return guarded(path_,
                       [&]() -> Result<EndedPage> { return read_ended(statements_, query); });
    }

    Result<std::optional<Session>> find(const SessionId& id) override {
        return guarded(path_, [&]() -> Result<std::optional<Session>> { return finder_.find(id); });
    }

    Result<std::vector<Session>> find_beginning(const SessionId& prefix,
                                                std::size_t limit) override {
        return guarded(path_, [&]() -> Result<std::vector<Session>> {
            return read_beginning(statements_, prefix, limit);
        });
    }

    Result<IdNeighbours> neighbours(const SessionId& id) override {
        return guarded(path_,
                       [&]() -> Result<IdNeighbours> { return read_neighbours(statements_, id); });
    }

    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return guarded(path_, [&]() -> Result<std::optional<Session>> {
            return finder_.newest_child(parent, relation);
        });
    }

    Result<MessagePage> messages(const MessageQuery& query) override {
        return guarded(path_, [&]() -> Result<MessagePage> { return read_messages(query); });
    }

    Result<SearchPage> search(const SearchQuery& query) override {
        return guarded(path_, [&]() -> Result<SearchPage> { return search_.find(query); });
    }

    Result<ProcessPage> processes(const ProcessQuery& query) override {
        return guarded(path_,
                       [&]() -> Result<ProcessPage> { return read_processes(statements_, query); });
    }

    Result<std::optional<ProcessOnRecord>> process(const ProcessId& id) override {
        return guarded(path_, [&]() -> Result<std::optional<ProcessOnRecord>> {
            return read_process(database_, id);
        });
    }

    Result<EventPage> events(const EventQuery& query) override {
        return guarded(path_, [&]() -> Result<EventPage> { return events_.read(query); });
    }

    Result<std::vector<EndedLately>> ended_lately(WallTime since, std::size_t limit) override {
        return guarded(path_, [&]() -> Result<std::vector<EndedLately>> {
            return read_ended_lately(since, limit);
        });
    }

    Result<std::int64_t> data_version() override {
        return guarded(path_, [&]() -> Result<std::int64_t> {
            return database_.execAndGet("PRAGMA data_version").getInt64();
        });
    }

    Result<void> at_one_moment(const std::function<Result<void>()>& read) override {
        return guarded(path_, [&]() -> Result<void> {
            const Snapshot snapshot(database_);
            return read();
        });
    }

    Result<EndCounts> ends_since(WallTime since) override {
        return guarded(path_, [&]() -> Result<EndCounts> {
            SQLite::Statement select(database_,
                                     "SELECT reason, proof, sum(ends) FROM end_counts "
                                     "WHERE hour >= ? GROUP BY reason, proof");
            select.bind(1, hour_of(since));
            EndCounts counts;
            while (select.executeStep()) {
                const auto reason = parse_reason(select.getColumn(0).getString());
                const auto proof = find_in<Proof>(proof_names, select.getColumn(1).getString());
                if (reason && proof) counts[{*reason, *proof}] = select.getColumn(2).getInt64();
            }
            return counts;
        });
    }

    Result<std::int64_t> count_folded(const SessionQuery& query, std::int64_t most) override {
        return guarded(path_, [&]() -> Result<std::int64_t> {
            if (can_be_none(query) || !folds(query)) return 0;
            const auto use = statements_.use(count_folded_sql(query));
            auto& select = *use;
            select.bind(":most", most);
            select.executeStep();
            return select.getColumn(0).getInt64();
        });
    }

    Result<Stats> stats(WallTime since) override {
        return guarded(path_, [&]() -> Result<Stats> {
            const Snapshot snapshot(database_);
            return read_stats(database_, since);
        });
    }

    Result<std::int64_t> leaked() override {
        return guarded(path_, [&]() -> Result<std::int64_t> {
            return database_
                .execAndGet(
                    "SELECT count(*) FROM sessions INDEXED BY sessions_leaked "
                    "WHERE ended_at IS NOT NULL AND reason IS NULL")
                .getInt64();
        });
    }

    Result<std::vector<Subscription>> subscriptions() override {
        return guarded(path_, [&]() -> Result<std::vector<Subscription>> {
            return read_subscriptions(database_);
        });
    }

    Result<std::vector<PendingDelivery>> letters(const PendingQuery& query) override {
        return guarded(path_, [&]() -> Result<std::vector<PendingDelivery>> {
            return read_letters(database_, query);
        });
    }

  private:
    /// Before the first statement is made.
    static SQLite::Database& with_search(SQLite::Database& database) {
        database.check(add_search_functions(database.getHandle()));
        return database;
    }

    MessagePage read_messages(const MessageQuery& query) {
        // One more than asked for tells whether there are older ones.
        Binder(messages_)
            .number(query.session)
            .number(query.before.value_or(INT64_MAX))
            .number(static_cast<std::int64_t>(query.limit) + 1);
        MessagePage page;
        std::int64_t oldest = 0;
        std::size_t bytes = 0;
        while (messages_.executeStep()) {
            if (page.messages.size() == query.limit || bytes >= query.bytes_max) {
                page.next = oldest;
                break;
            }
            page.messages.push_back({readable_text(messages_.getColumn(0).getString()),
                                     readable_text(messages_.getColumn(1).getString()),
                                     readable_text(messages_.getColumn(2).getString()),
                                     messages_.getColumn(3).getInt64()});
            oldest = messages_.getColumn(4).getInt64();
            bytes += page_bytes(page.messages.back());
        }
        messages_.reset();
        std::ranges::reverse(page.messages);
        return page;
    }

    /// From the newest event back: there is no index on when a session ended, and the log is in
    /// that order.
    std::vector<EndedLately> read_ended_lately(WallTime since, std::size_t limit) {
        SQLite::Statement select(database_,
                                 "SELECT type, time, session_id, generation FROM events "
                                 "ORDER BY seq DESC LIMIT ?");
        select.bind(1, static_cast<std::int64_t>(limits::space_events_scan_max));
        const auto end = name_in(event_type_names, EventType::session_end);
        std::vector<EndedLately> found;
        while (found.size() < limit && select.executeStep()) {
            const auto told_at = from_millis(select.getColumn(1).getInt64());
            if (told_at < since) break;
            if (select.getColumn(0).getText() != end) continue;
            auto session = finder_.find(SessionId(select.getColumn(2).getString()));
            const auto generation = select.getColumn(3).getInt64();
            if (!session || !session->end || session->generation != generation) continue;
            found.push_back({std::move(*session), told_at});
        }
        return found;
    }

    SessionPage read_page(const SessionQuery& query) {
        SessionPage page;
        if (can_be_none(query)) return page;
        const auto use = statements_.use(list_sql(query));
        auto& select = *use;
        if (!query.source.empty()) select.bindNoCopy(":source", query.source);
        if (!query.key.empty()) select.bindNoCopy(":key", query.key);
        if (query.before) select.bind(":before", *query.before);
        if (query.live_at) {
            select.bindNoCopy(":current", query.current.text());
            select.bind(":gone_before", to_millis(*query.live_at - limits::detached_grace));
        }
        // One more than asked for tells whether there is a next page.
        select.bind(":limit", static_cast<std::int64_t>(query.limit) + 1);
        std::size_t bytes = 0;
        while (select.executeStep()) {
            if (page.sessions.size() == query.limit || bytes >= query.bytes_max) {
                page.next = page.sessions.back().ordinal;
                break;
            }
            page.sessions.push_back(read_session(select));
            bytes += page_bytes(page.sessions.back());
        }
        return page;
    }

    const std::string path_;
    SQLite::Database database_;
    SessionFinder finder_;
    StatementCache statements_;
    EventScan events_;
    MessageSearch search_;
    SQLite::Statement messages_;
};

}  // namespace

SessionFinder::SessionFinder(SQLite::Database& database)
    : select_(database, fmt::format("SELECT {} FROM sessions WHERE id = ?", session_list())),
      newest_child_(database, fmt::format("SELECT {} FROM sessions INDEXED BY sessions_by_parent "
                                          "WHERE parent_id = ? AND relation IS ? "
                                          "ORDER BY ordinal DESC LIMIT 1",
                                          session_list())) {}

std::optional<Session> SessionFinder::find(const SessionId& id) {
    Binder(select_).text(id.text());
    return read_one(select_);
}

std::optional<Session> SessionFinder::newest_child(const SessionId& parent, Relation relation) {
    Binder(newest_child_).text(parent.text()).word(name_in(relation_names, relation));
    return read_one(newest_child_);
}

Result<std::unique_ptr<Reader>> open_reader(const Location& location) {
    return guarded(location.path, [&]() -> Result<std::unique_ptr<Reader>> {
        return std::make_unique<SqliteReader>(location);
    });
}

}  // namespace knell::sqlite
