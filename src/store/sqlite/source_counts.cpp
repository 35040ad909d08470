#include "store/sqlite/source_counts.hpp"

#include <algorithm>

#include "store/sqlite/row.hpp"
#include "store/sqlite/statement_reset.hpp"

namespace knell::sqlite {

SourceCounts::SourceCounts(SQLite::Database& database)
    : source_(database, "SELECT source FROM sessions WHERE ordinal = ?"),
      // A sum that does not fit would be no integer any more.
      add_(database,
           "INSERT INTO source_counts VALUES (?, ?, ?, ?, ?) ON CONFLICT (hour, source) DO UPDATE "
           "SET starts = starts + excluded.starts, "
           "input_tokens = iif(input_tokens > 9223372036854775807 - excluded.input_tokens, "
           "9223372036854775807, input_tokens + excluded.input_tokens), "
           "output_tokens = iif(output_tokens > 9223372036854775807 - excluded.output_tokens, "
           "9223372036854775807, output_tokens + excluded.output_tokens)"),
      add_ends_(database,
                "INSERT INTO source_ends VALUES (?, ?, ?, ?) "
                "ON CONFLICT (hour, source, reason) DO UPDATE SET ends = ends + excluded.ends") {}

void SourceCounts::note(const Appended& change) {
    const bool has_tokens = std::ranges::any_of(
        change.messages, [](const Message& message) { return message.tokens > 0; });
    if (!has_tokens) return;
    Binder(source_).number(change.ordinal);
    const StatementReset reset(source_);
    if (!source_.executeStep()) return;
    auto& counts = counts_[{hour_of(change.at), source_.getColumn(0).getString()}];
    for (const auto& message : change.messages) count_tokens(counts, message);
}

void SourceCounts::note(const Event& event) {
    const bool counts =
        event.type == EventType::session_start || event.type == EventType::session_end;
    if (counts) count_event(counts_[{hour_of(event.time), event.source}], event);
}

void SourceCounts::write() {
    for (const auto& [key, counts] : counts_) {
        const auto& [hour, source] = key;
        if (counts.starts > 0 || counts.input_tokens > 0 || counts.output_tokens > 0) {
            Binder bind(add_);
            bind.number(hour).text(source).number(counts.starts);
            bind.number(counts.input_tokens).number(counts.output_tokens).run();
        }
        for (const auto& [reason, ends] : counts.ends) {
            Binder(add_ends_).number(hour).text(source).word(name_of(reason)).number(ends).run();
        }
    }
}

namespace {

void read_leaked(SQLite::Database& database, const char* sql, std::int64_t since_hour,
                 Stats& stats) {
    SQLite::Statement leaked(database, sql);
    Binder(leaked).number(since_hour * milliseconds_an_hour);
    while (leaked.executeStep()) {
        const auto day = leaked.getColumn(0).getInt64() / (milliseconds_an_hour * hours_a_day);
        ++stats.days[{day, leaked.getColumn(1).getString()}].leaked;
    }
}

}  // namespace

Stats read_stats(SQLite::Database& database, WallTime since) {
    Stats stats;
    const auto first = hour_of(since);
    SQLite::Statement counts(database,
                             "SELECT hour, source, starts, input_tokens, output_tokens "
                             "FROM source_counts WHERE hour >= ?");
    Binder(counts).number(first);
    const auto day_of = [&stats](SQLite::Statement& row) -> DayStats& {
        return stats
            .days[{row.getColumn(0).getInt64() / hours_a_day, row.getColumn(1).getString()}];
    };
    while (counts.executeStep()) {
        auto& day = day_of(counts);
        day.starts += counts.getColumn(2).getInt64();
        add_up(day.input_tokens, counts.getColumn(3).getInt64());
        add_up(day.output_tokens, counts.getColumn(4).getInt64());
    }
    SQLite::Statement ends(database,
                           "SELECT hour, source, reason, ends FROM source_ends WHERE hour >= ?");
    Binder(ends).number(first);
    while (ends.executeStep()) {
        const auto reason = parse_reason(ends.getColumn(2).getString());
        if (reason) day_of(ends).ends[*reason] += ends.getColumn(3).getInt64();
    }
    read_leaked(database,
                "SELECT started_at, source FROM sessions INDEXED BY sessions_unknown "
                "WHERE unknown_since IS NOT NULL AND started_at >= ?",
                first, stats);
    read_leaked(database,
                "SELECT started_at, source FROM sessions INDEXED BY sessions_imported "
                "WHERE reason = 'imported' AND started_at >= ?",
                first, stats);
    return stats;
}

}  // namespace knell::sqlite
