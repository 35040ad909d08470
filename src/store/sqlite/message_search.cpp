#include "store/sqlite/message_search.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.hpp"
#include "store/search_hits.hpp"
#include "store/sqlite/readable_text.hpp"
#include "store/sqlite/row.hpp"
#include "store/sqlite/snapshot.hpp"
#include "store/sqlite/statement_reset.hpp"

namespace knell::sqlite {

namespace {

/// As FTS5 reads it.  The words are letters and digits by now: nothing in them has a meaning.
std::string match_expression(const SearchTerms& terms) {
    std::string expression;
    for (const auto& phrase : terms.phrases) {
        if (!expression.empty()) expression += " AND ";
        expression += '"';
        for (const auto& word : phrase.words) {
            if (&word != &phrase.words.front()) expression += ' ';
            expression += word;
        }
        expression += phrase.is_prefix ? "\" *" : "\"";
    }
    return expression;
}

/// What is read of a message that has yet to be looked at, and of one that the index has found.
constexpr std::string_view unseen_columns = "doc, session, at, role, content";
constexpr std::string_view indexed_columns = "messages_fts.rowid, session, at, role";

std::string indexed_sql(std::string_view score) {
    return fmt::format(
        "SELECT {}, {} FROM messages_fts CROSS JOIN messages ON doc = messages_fts.rowid WHERE "
        "messages_fts MATCH ? AND messages_fts.rowid <= ? ORDER BY messages_fts.rowid DESC",
        indexed_columns, score);
}

}  // namespace

MessageSearch::MessageSearch(SQLite::Database& database)
    : database_(database),
      through_(database, "SELECT through FROM message_index"),
      session_(database, "SELECT ordinal FROM sessions WHERE id = ?"),
      about_(database, "SELECT source, key FROM sessions WHERE ordinal = ?"),
      of_session_(database, fmt::format("SELECT {} FROM messages INDEXED BY messages_by_session "
                                        "WHERE session = ? AND doc < ? ORDER BY number DESC",
                                        unseen_columns)),
      behind_(database, fmt::format("SELECT {} FROM messages WHERE doc > ? AND doc < ? "
                                    "ORDER BY doc DESC",
                                    unseen_columns)),
      recent_(database, indexed_sql("0")),
      scored_(database, indexed_sql("knell_score(messages_fts)")),
      found_(database,
             "SELECT id, key, source, title, number, role, tool_name, at, content FROM messages "
             "CROSS JOIN sessions ON ordinal = session WHERE doc = ?") {}

/// One search.
class MessageSearch::Run {
  public:
    Run(MessageSearch& search, const SearchQuery& query)
        : search_(search), query_(query), hits_(query) {}

    SearchPage find() {
        const Snapshot snapshot(search_.database_);
        if (query_.session_id.empty()) {
            const auto through = number_in(search_.through_);
            if (look_behind(through)) look_up(through);
        } else {
            look_at_session();
        }
        return page();
    }

  private:
    static std::int64_t number_in(SQLite::Statement& select) {
        const StatementReset reset(select);
        return select.executeStep() ? select.getColumn(0).getInt64() : 0;
    }

    void look_at_session() {
        Binder(search_.session_).text(query_.session_id.text());
        const auto session = number_in(search_.session_);
        Binder(search_.of_session_).number(session).number(hits_.before());
        look_at_each(search_.of_session_);
    }

    /// False: no more is needed, or may be looked at.
    bool look_behind(std::int64_t through) {
        Binder(search_.behind_).number(through).number(hits_.before());
        return look_at_each(search_.behind_);
    }

    bool look_at_each(SQLite::Statement& row) {
        const StatementReset reset(row);
        while (row.executeStep()) {
            const auto doc = row.getColumn(0).getInt64();
            const auto content = row.getColumn(4);
            const std::string_view text(content.getText(),
                                        static_cast<std::size_t>(content.getBytes()));
            if (!hits_.may_look_at(doc, text.size())) return false;
            if (!is_meant(row)) continue;
            const auto matched = match(query_.terms, text);
            if (matched && !hits_.add({doc, matched->score})) return false;
        }
        return true;
    }

    void look_up(std::int64_t through) {
        const bool is_scored = query_.order == SearchOrder::best;
        auto& row = is_scored ? search_.scored_ : search_.recent_;
        const auto expression = match_expression(query_.terms);
        Binder(row).text(expression).number(std::min(through, hits_.before() - 1));
        const StatementReset reset(row);
        while (row.executeStep()) {
            const auto doc = row.getColumn(0).getInt64();
            if (!hits_.may_look_at(doc, 0)) return;
            if (is_meant(row) && !hits_.add({doc, row.getColumn(4).getInt64()})) return;
        }
    }

    /// By its session, time and role, which both kinds of rows have in the same place.
    bool is_meant(SQLite::Statement& row) {
        if (query_.since && row.getColumn(2).getInt64() < to_millis(*query_.since)) return false;
        if (!query_.role.empty() && row.getColumn(3).getText() != query_.role) return false;
        if (query_.source.empty() && query_.key.empty()) return true;
        const auto [known, is_first] = meant_.try_emplace(row.getColumn(1).getInt64(), false);
        if (is_first) known->second = is_meant_session(known->first);
        return known->second;
    }

    bool is_meant_session(Ordinal ordinal) {
        auto& row = search_.about_;
        Binder(row).number(ordinal);
        const StatementReset reset(row);
        if (!row.executeStep()) return false;
        if (!query_.source.empty() && row.getColumn(0).getText() != query_.source) return false;
        return query_.key.empty() || row.getColumn(1).getText() == query_.key;
    }

    SearchPage page() {
        auto chosen = hits_.choose();
        SearchPage page{.messages = {}, .next = chosen.next, .is_partial = chosen.is_partial};
        for (const auto& hit : chosen.hits) page.messages.push_back(found(hit.doc));
        return page;
    }

    FoundMessage found(std::int64_t doc) {
        auto& row = search_.found_;
        Binder(row).number(doc);
        const StatementReset reset(row);
        CHECK(row.executeStep());  // it is of the moment in which it was found
        const auto text = [&](int column) {
            return readable_text(row.getColumn(column).getString());
        };
        const auto content = text(8);
        const auto matched = match(query_.terms, content).value_or(SearchMatch{});
        return {.session_id = SessionId(row.getColumn(0).getString()),
                .key = text(1),
                .source = text(2),
                .title = text(3),
                .number = row.getColumn(4).getInt64(),
                .role = text(5),
                .tool_name = text(6),
                .at = from_millis(row.getColumn(7).getInt64()),
                .snippet = make_snippet(content, matched.spans)};
    }

    MessageSearch& search_;
    const SearchQuery& query_;
    SearchHits hits_;
    std::unordered_map<Ordinal, bool> meant_;
};

SearchPage MessageSearch::find(const SearchQuery& query) {
    return Run(*this, query).find();
}

}  // namespace knell::sqlite
