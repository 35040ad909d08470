#include "store/sqlite/session_query.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/check.hpp"
#include "store/sqlite/row.hpp"

namespace knell::sqlite {

namespace {

/// A query put together from the filters that were given.
struct Where {
    std::string text;
    void add(std::string_view condition) {
        text += text.empty() ? " WHERE " : " AND ";
        text += condition;
    }
};

bool wants_ended(const SessionQuery& query) {
    return query.ended == true || query.status == Status::ended;
}
bool wants_open(const SessionQuery& query) {
    return query.ended == false || (query.status && *query.status != Status::ended);
}

/// The index that leaves the fewest rows to look at.  Named outright: without statistics SQLite
/// would guess, and guess differently as the store grows.
std::string_view index_for(const SessionQuery& query) {
    if (!query.key.empty()) return "INDEXED BY sessions_by_key";
    if (query.status == Status::running) return "INDEXED BY sessions_running";
    if (query.status == Status::background) return "INDEXED BY sessions_background";
    if (query.status == Status::unknown) return "INDEXED BY sessions_unknown";
    if (query.status == Status::stalled) return "INDEXED BY sessions_stalled";
    if (!query.source.empty()) {
        if (wants_open(query)) return "INDEXED BY sessions_by_source_open";
        return wants_ended(query) ? "INDEXED BY sessions_by_source_ended"
                                  : "INDEXED BY sessions_by_source";
    }
    if (wants_open(query)) {
        return query.all ? "INDEXED BY sessions_open" : "INDEXED BY sessions_open_shown";
    }
    if (wants_ended(query)) {
        return query.all ? "INDEXED BY sessions_ended" : "INDEXED BY sessions_ended_shown";
    }
    return query.all ? "NOT INDEXED" : "INDEXED BY sessions_shown";
}

/// Who asks for ended sessions also gets the empty ones.
void add_fold(Where& where, const SessionQuery& query) {
    if (!folds(query)) return;
    where.add(wants_ended(query) ? "fold <> 1" : "fold = 0");
}

void add_status(Where& where, const SessionQuery& query) {
    if (wants_ended(query)) where.add("ended_at IS NOT NULL");
    if (wants_open(query)) where.add("ended_at IS NULL");
    if (!query.status) return;
    // The same order of precedence as status_of.
    constexpr std::string_view certain = "unknown_since IS NULL AND stalled_since IS NULL";
    constexpr std::string_view unwatched = "turn_since IS NULL AND attached = 0";
    constexpr std::string_view workless = "background_since IS NULL";
    switch (*query.status) {
        case Status::ended:
            break;
        case Status::unknown:
            where.add("unknown_since IS NOT NULL");
            break;
        case Status::stalled:
            where.add("stalled_since IS NOT NULL AND unknown_since IS NULL");
            break;
        case Status::running:
            where.add("turn_since IS NOT NULL");
            where.add(certain);
            break;
        case Status::attached:
            where.add("attached > 0 AND turn_since IS NULL");
            where.add(certain);
            break;
        case Status::background:
            where.add("background_since IS NOT NULL");
            where.add(unwatched);
            where.add(certain);
            break;
        case Status::detached:
            where.add("(parked_since IS NOT NULL OR owner_kind = 'hosted')");
            where.add(workless);
            where.add(unwatched);
            where.add(certain);
            break;
        case Status::idle:
            where.add("parked_since IS NULL AND owner_kind <> 'hosted'");
            where.add(workless);
            where.add(unwatched);
            where.add(certain);
            break;
    }
}

/// See is_active.
void add_live(Where& where, const SessionQuery& query) {
    if (!query.live_at) return;
    where.add(
        "(id = :current OR detached_since IS NULL OR detached_since > :gone_before OR turn_since "
        "IS NOT NULL OR background_since IS NOT NULL OR unknown_since IS NOT NULL OR stalled_since "
        "IS NOT NULL)");
}

}  // namespace

bool can_be_none(const SessionQuery& query) {
    return wants_ended(query) && wants_open(query);
}

std::string list_sql(const SessionQuery& query) {
    Where where;
    if (!query.source.empty()) where.add("source = :source");
    if (!query.key.empty()) where.add("key = :key");
    if (query.before) where.add("ordinal < :before");
    add_status(where, query);
    add_live(where, query);
    add_fold(where, query);
    return fmt::format("SELECT {} FROM sessions {}{} ORDER BY ordinal DESC LIMIT :limit",
                       session_list(), index_for(query), where.text);
}

std::string count_folded_sql(const SessionQuery& query) {
    Where folded;
    folded.add(wants_ended(query) ? "fold = 1" : "fold IN (1, 2)");
    folded.add("fold <> 0");
    if (wants_ended(query)) folded.add("ended_at IS NOT NULL");
    if (wants_open(query)) folded.add("ended_at IS NULL");
    Where rest;
    add_status(rest, query);
    // So many of them are looked at, whatever their status.
    return fmt::format(
        "SELECT count(*) FROM (SELECT * FROM sessions INDEXED BY sessions_folded{} LIMIT :most){}",
        folded.text, rest.text);
}

}  // namespace knell::sqlite
