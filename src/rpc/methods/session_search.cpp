// session.search: what was said, by its words.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "core/limits.hpp"
#include "core/read_limits.hpp"
#include "rpc/methods/archive_methods.hpp"
#include "store/archive.hpp"
#include "wire/json.hpp"
#include "wire/session_fields.hpp"

template <>
inline constexpr std::span<const std::string_view> knell::wire::names_of<knell::SearchOrder>{
    knell::search_order_names};

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array search_params{
    Field{.name = "query",
          .type = text,
          .required = true,
          .max = limits::search_query_bytes_max,
          .about = "words that a message must hold; \"in quotes\" they follow each other, and de* "
                   "is the beginning of one"},
    Field{.name = "source", .type = word, .about = "only sessions of this source"},
    Field{.name = "key",
          .type = text,
          .max = limits::key_bytes_max,
          .about = "only sessions with this routing key"},
    Field{.name = "role", .type = word, .about = "only what this role said: user, assistant ..."},
    Field{.name = "session_id", .type = id, .about = "only this session"},
    Field{.name = "since",
          .type = text,
          .max = limits::word_bytes_max,
          .about = "only what was said since: a time (RFC 3339), or so long ago, such as 7d"},
    Field{.name = "order",
          .type = choice,
          .standard = place_of(SearchOrder::recent),
          .choices = names_of<SearchOrder>,
          .about = "recent (default): the last on record first; best: those that hold the words "
                   "most often for their length"},
    Field{.name = "limit",
          .type = integer,
          .min = 1,
          .max = limits::search_page_max,
          .standard = limits::search_page_default,
          .about = "1 to 200, default 20"},
    cursor_param(limits::word_bytes_max),
};
constexpr std::array mark_fields{
    always("start", integer, "where it begins, in characters (Unicode code points)"),
    always("length", integer, "of how many characters"),
};
constexpr std::array found_fields{
    always("session_id", id, "the session"),
    only("it has one", "title", text, "of the session"),
    only("it has one", "key", text, "of the session"),
    always("source", word, "of the session"),
    always("number", integer, "of the message in its session: 1, 2, 3 ..."),
    always("role", word, "who wrote it"),
    only("a tool wrote it", "tool_name", text, "which"),
    always("time", time, "when"),
    always("snippet", text, "a piece of it, on one line"),
    always_objects("marks", mark_fields, "where in the snippet the words stand"),
};
constexpr std::array search_result{
    always_objects("results", found_fields, "what was found, in that order"),
    only("it was looked at no more for one page", "partial", boolean,
         "true: of the best, only the newest messages that hold the words were compared"),
    only("there may be more, also where this page is empty", "next", text,
         "`cursor` of the next page"),
};

std::optional<WallTime> read_since(wire::FieldReader& given, const std::string& text,
                                   WallTime now) {
    if (text.empty()) return std::nullopt;
    if (const auto time = parse_any_rfc3339(text)) return time;
    const bool has_unit = text.back() < '0' || text.back() > '9';
    if (const auto ago = parse_duration(text, std::chrono::seconds{1}); has_unit && ago) {
        return now -
               std::min(*ago, std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()));
    }
    given.reject("since",
                 "is neither a time such as 2026-05-18T10:00:00Z, nor a duration such as 7d");
    return std::nullopt;
}

/// "SCORE-NUMBER"; the score of the last first is 0.
std::string cursor_of(const SearchCursor& cursor) {
    return fmt::format("{}-{}", cursor.score, cursor.doc);
}

std::optional<SearchCursor> read_search_cursor(wire::FieldReader& given, const std::string& text) {
    if (text.empty()) return std::nullopt;
    SearchCursor cursor;
    const auto* end = text.data() + text.size();
    const auto score = std::from_chars(text.data(), end, cursor.score);
    if (score.ec == std::errc{} && score.ptr != end && *score.ptr == '-') {
        const auto doc = std::from_chars(score.ptr + 1, end, cursor.doc);
        const bool is_whole = doc.ec == std::errc{} && doc.ptr == end;
        if (is_whole && cursor.score >= 0 && cursor.doc > 0) return cursor;
    }
    given.reject("cursor", "is not one that an earlier page gave as `next`");
    return std::nullopt;
}

JsonObject render(const FoundMessage& message) {
    JsonArray marks;
    for (const auto& mark : message.snippet.marks) {
        marks.push_back(JsonObject{{"start", mark.start}, {"length", mark.length}});
    }
    JsonObject result{{"session_id", message.session_id.text()},
                      {"source", message.source},
                      {"number", message.number},
                      {"role", message.role},
                      {"time", format_rfc3339(message.at)},
                      {"snippet", message.snippet.text},
                      {"marks", std::move(marks)}};
    if (!message.title.empty()) result["title"] = message.title;
    if (!message.key.empty()) result["key"] = message.key;
    if (!message.tool_name.empty()) result["tool_name"] = message.tool_name;
    return result;
}

Result<Json> find_and_render(const SearchQuery& query, Reader& reader) {
    const auto page = archive_of(reader).search(query);
    if (!page) return std::unexpected(page.error());
    JsonArray results;
    for (const auto& message : page->messages) results.push_back(render(message));
    JsonObject result{{"results", std::move(results)}};
    if (page->is_partial) result["partial"] = true;
    if (page->next) result["next"] = cursor_of(*page->next);
    return result;
}

void search(Call&& call, Backend& backend) {
    auto given = given_of<search_params>(call);
    const auto text = given.get<"query">();
    SearchQuery query;
    query.session_id = given.get<"session_id">();
    query.source = given.get<"source">();
    query.key = given.get<"key">();
    query.role = given.get<"role">();
    query.since = read_since(given, given.get<"since">(), backend.wall_time());
    query.order = given.choice<SearchOrder, "order">();
    query.limit = given.get_as<std::size_t, "limit">();
    query.after = read_search_cursor(given, given.get<"cursor">());
    query.candidates_max = limits::search_candidates_max;
    query.bytes_max = limits::search_scan_bytes_max;
    if (given.error()) return call.respond(given.failure());
    auto terms = parse_search_terms(text);
    if (!terms) {
        given.reject("query", std::move(terms.error()));
        return call.respond(given.failure());
    }
    query.terms = std::move(*terms);
    backend.read(
        call.caller.connection,
        [query = std::move(query)](Reader& reader) { return find_and_render(query, reader); },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"session.search", "messages by their words, the newest first", search_params,
           search_result, search, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> session_search_methods() {
    return family;
}

}  // namespace knell::rpc
