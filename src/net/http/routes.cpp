#include "net/http/routes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "wire/json.hpp"

namespace knell::net::http {

namespace {

std::string text_in(std::string_view result) {
    const auto parsed = wire::parse_json(result);
    return parsed ? std::string(wire::text_at(parsed->get_object(), "text")) : std::string{};
}
constexpr Rendering prometheus_text{"text/plain; version=0.0.4; charset=utf-8", text_in};

constexpr std::array table{
    Route{.verb = "GET", .path = "/healthz", .serves = Serves::health},
    Route{.verb = "GET", .path = "/readyz", .serves = Serves::readiness},
    Route{.verb = "POST", .path = "/v1/rpc", .serves = Serves::rpc},
    Route{.verb = "GET", .path = "/v1/ws", .serves = Serves::websocket},
    Route{.verb = "GET",
          .path = "/v1/events",
          .serves = Serves::events,
          .method = "events.subscribe"},
    Route{.verb = "GET",
          .path = "/v1/sessions",
          .method = "session.list",
          .next_field = "next",
          .next_param = "cursor"},
    Route{.verb = "GET", .path = "/v1/sessions/{session_id}", .method = "session.show"},
    Route{.verb = "GET", .path = "/v1/sessions/{session_id}/why", .method = "session.why"},
    Route{.verb = "GET",
          .path = "/v1/sessions/{session_id}/messages",
          .method = "session.show",
          .next_field = "messages_next",
          .next_param = "before",
          .renamed = {.query = "limit", .param = "messages", .standard = "50"}},
    Route{.verb = "GET",
          .path = "/v1/processes",
          .method = "process.list",
          .next_field = "next",
          .next_param = "cursor"},
    Route{.verb = "GET", .path = "/v1/processes/{process_id}", .method = "process.show"},
    Route{.verb = "GET", .path = "/v1/processes/{process_id}/output", .method = "process.output"},
    Route{.verb = "GET", .path = "/v1/hooks", .method = "hooks.list"},
    Route{.verb = "GET", .path = "/v1/status", .method = "node.status"},
    Route{.verb = "GET", .path = "/v1/stats", .method = "node.stats"},
    Route{
        .verb = "GET", .path = "/v1/space/activity", .method = "space.activity", .has_etag = true},
    Route{
        .verb = "GET", .path = "/metrics", .method = "node.metrics", .rendering = &prometheus_text},
    Route{.verb = "GET", .path = "/openapi.json", .method = "rpc.openapi"},
};

using Params = std::vector<std::pair<std::string, std::string>>;

bool is_param(std::string_view segment) {
    return segment.starts_with('{');
}

/// What the path gives, or nothing when it is another one.
std::optional<Params> match_path(std::string_view pattern, const std::vector<std::string>& path) {
    Params params;
    pattern.remove_prefix(1);
    for (const auto& segment : path) {
        if (pattern.empty()) return std::nullopt;
        const auto expected = take_field(pattern, '/');
        if (is_param(expected)) {
            if (segment.empty()) return std::nullopt;
            params.emplace_back(expected.substr(1, expected.size() - 2), segment);
        } else if (segment != expected) {
            return std::nullopt;
        }
    }
    if (!pattern.empty()) return std::nullopt;
    return params;
}

bool is_verb_of(std::string_view verb, const Route& route) {
    return verb == route.verb || (verb == "HEAD" && route.verb == "GET");
}

void add_query(Params& params, const Route& route, const Target& target) {
    const auto& renamed = route.renamed;
    bool is_given = renamed.param.empty();
    for (const auto& [name, value] : target.query) {
        const bool is_renamed = !renamed.param.empty() && name == renamed.query;
        is_given = is_given || is_renamed;
        params.emplace_back(is_renamed ? std::string(renamed.param) : name, value);
    }
    if (!is_given) params.emplace_back(renamed.param, renamed.standard);
}

/// The last member of an object, when it has that name and is a number or a plain text.  The result
/// may be megabytes long, and is not parsed for this: quotes inside a text are written otherwise,
/// and nothing but the end of the whole may follow.
std::string_view last_member(std::string_view object, std::string_view name) {
    const auto mark = fmt::format(",\"{}\":", name);
    const auto at = object.rfind(mark);
    if (at == std::string_view::npos) return {};
    auto value = object.substr(at + mark.size());
    value.remove_suffix(1);
    if (value.starts_with('"') && value.ends_with('"') && value.size() >= 2) {
        value = value.substr(1, value.size() - 2);
    }
    const auto is_plain = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '-' || c == '_';
    };
    return std::ranges::all_of(value, is_plain) ? value : std::string_view{};
}

}  // namespace

std::span<const Route> routes() {
    return table;
}

std::variant<Matched, NoSuchPath, OtherVerbs> find_route(std::string_view verb,
                                                         const Target& target) {
    std::string allowed;
    for (const auto& route : table) {
        auto params = match_path(route.path, target.path);
        if (!params) continue;
        if (is_verb_of(verb, route)) {
            add_query(*params, route, target);
            return Matched{&route, std::move(*params)};
        }
        allowed += fmt::format("{}{}{}", allowed.empty() ? "" : ", ", route.verb,
                               route.verb == "GET" ? ", HEAD" : "");
    }
    if (allowed.empty()) return NoSuchPath{};
    return OtherVerbs{std::move(allowed)};
}

std::string next_link(const Matched& matched, const Target& target, std::string_view result) {
    const auto& route = *matched.route;
    if (route.next_field.empty()) return {};
    const auto next = last_member(result, route.next_field);
    if (next.empty()) return {};
    std::string link = "<";
    for (const auto& segment : target.path) link += "/" + encode_query(segment);
    char before = '?';
    for (const auto& [name, value] : target.query) {
        if (name == route.next_param) continue;
        link += fmt::format("{}{}={}", before, encode_query(name), encode_query(value));
        before = '&';
    }
    return link + fmt::format("{}{}={}>; rel=\"next\"", before, route.next_param, next);
}

}  // namespace knell::net::http
