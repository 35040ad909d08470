#include "store/sqlite/session_pages.hpp"

#include <fmt/format.h>

#include "store/page_bytes.hpp"
#include "store/sqlite/row.hpp"

namespace knell::sqlite {

namespace {

/// Indexes are named outright: without statistics SQLite would guess.
std::string ended_sql(const EndedQuery& query) {
    const bool folded = query.wants_folded();
    return fmt::format(
        "SELECT {} FROM sessions INDEXED BY {} WHERE ended_at IS NOT NULL{}{}{} "
        "ORDER BY ended_at DESC, ordinal DESC LIMIT :scan",
        session_list(), folded ? "sessions_by_end" : "sessions_by_end_shown",
        folded ? "" : " AND fold = 0", query.since ? " AND ended_at >= :since" : "",
        query.before ? " AND (ended_at, ordinal) < (:before_end, :before)" : "");
}

/// What is greater than every id that begins with `prefix`, and no greater than any other.  The
/// characters of ids are far from the end of their range.
std::string past_all(const SessionId& prefix) {
    auto text = prefix.text();
    ++text.back();
    return text;
}

SessionId read_id(StatementCache& statements, const std::string& sql, const SessionId& id) {
    const auto use = statements.use(sql);
    auto& select = *use;
    select.bindNoCopy(1, id.text());
    return select.executeStep() ? SessionId(select.getColumn(0).getString()) : SessionId{};
}

}  // namespace

EndedPage read_ended(StatementCache& statements, const EndedQuery& query) {
    const auto use = statements.use(ended_sql(query));
    auto& select = *use;
    if (query.since) select.bind(":since", to_millis(*query.since));
    if (query.before) {
        select.bind(":before_end", to_millis(query.before->ended_at));
        select.bind(":before", query.before->ordinal);
    }
    // One more than may be looked at tells whether there are more.
    select.bind(":scan", static_cast<std::int64_t>(ended_scan_max) + 1);
    EndedPage page;
    std::optional<EndPlace> last;
    std::size_t bytes = 0;
    for (std::size_t looked_at = 0; select.executeStep(); ++looked_at) {
        if (page.sessions.size() == query.limit || bytes >= query.bytes_max ||
            looked_at == ended_scan_max) {
            page.next = last;
            break;
        }
        auto session = read_session(select);
        if (session.end) last = EndPlace{session.end->ended_at, session.ordinal};
        if (!query.wants(session)) continue;
        bytes += page_bytes(session);
        page.sessions.push_back(std::move(session));
    }
    return page;
}

std::vector<Session> read_beginning(StatementCache& statements, const SessionId& prefix,
                                    std::size_t limit) {
    std::vector<Session> found;
    if (prefix.empty()) return found;
    const auto use =
        statements.use(fmt::format("SELECT {} FROM sessions INDEXED BY sessions_by_id "
                                   "WHERE id >= :first AND id < :end ORDER BY id LIMIT :limit",
                                   session_list()));
    auto& select = *use;
    const auto end = past_all(prefix);
    select.bindNoCopy(":first", prefix.text());
    select.bindNoCopy(":end", end);
    select.bind(":limit", static_cast<std::int64_t>(limit));
    while (select.executeStep()) found.push_back(read_session(select));
    return found;
}

IdNeighbours read_neighbours(StatementCache& statements, const SessionId& id) {
    return {read_id(statements,
                    "SELECT id FROM sessions INDEXED BY sessions_by_id WHERE id < ? "
                    "ORDER BY id DESC LIMIT 1",
                    id),
            read_id(statements,
                    "SELECT id FROM sessions INDEXED BY sessions_by_id WHERE id > ? "
                    "ORDER BY id LIMIT 1",
                    id)};
}

}  // namespace knell::sqlite
