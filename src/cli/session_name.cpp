#include "cli/session_name.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "cli/relative_time.hpp"
#include "cli/text_width.hpp"
#include "core/ids.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

Error no_such_session(std::string_view name) {
    return {ErrorCode::not_found,
            fmt::format("no session {}; `knell ls --all` lists what there is", name),
            {},
            {}};
}

/// Sessions of a page; none where there is none.
JsonArray sessions_of(const JsonObject& page) {
    const auto* sessions = wire::array_at(page, "sessions");
    return sessions == nullptr ? JsonArray{} : *sessions;
}

std::string_view id_of(const Json& session) {
    const auto* object = session.if_object();
    return object == nullptr ? std::string_view{} : text_at(*object, "id");
}

/// "@3" and "@last": how far from the newest it is, from 1.
std::optional<std::int64_t> place_in(std::string_view name) {
    if (name == "@last") return 1;
    if (name.size() < 2 || name.front() != '@') return std::nullopt;
    std::int64_t place = 0;
    const auto* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 1, end, place);
    if (error != std::errc{} || stop != end || place < 1) return std::nullopt;
    return place;
}

Result<std::string> find_by_place(client::Connection& connection, std::string_view name,
                                  std::int64_t place) {
    if (place > std::int64_t{limits::list_page_max}) {
        return fail(ErrorCode::invalid_params,
                    fmt::format("{} is too far back: at most @{}", name, limits::list_page_max));
    }
    JsonArray sessions;
    // Those that ended, too, although nothing was said in them: `knell run -- true` was the last.
    for (const bool ended : {false, true}) {
        const auto page =
            connection.call_object("session.list", {{"ended", ended}, {"limit", place}});
        if (!page) return std::unexpected(page.error());
        const auto found = sessions_of(*page);
        sessions.insert(sessions.end(), found.begin(), found.end());
    }
    // Times of one form: their texts are in their order.
    std::vector<std::pair<std::string_view, std::string_view>> opened;
    for (const auto& session : sessions) {
        const auto* object = session.if_object();
        if (object == nullptr) continue;
        opened.emplace_back(text_at(*object, "started_at"), text_at(*object, "id"));
    }
    std::ranges::sort(opened, std::greater{});
    if (std::cmp_less(opened.size(), place)) {
        return fail(ErrorCode::not_found,
                    fmt::format("there is no session {}: {}", name,
                                opened.empty() ? "none was opened yet"
                                               : fmt::format("there are {}", opened.size())));
    }
    return std::string(opened[static_cast<std::size_t>(place - 1)].second);
}

std::string candidate_line(const JsonObject& session, std::string_view shown_id) {
    const auto* owner = wire::object_at(session, "owner");
    auto what = text_at(session, "title");
    if (what.empty() && owner != nullptr) what = text_at(*owner, "command");
    return fmt::format("\n  {}  {}, {}{}{}", shown_id, one_line(text_at(session, "status")),
                       relative_time(text_at(session, "started_at"), read_clocks().wall),
                       what.empty() ? "" : ": ", fit(one_line(what), 50));
}

Error ambiguous(client::Connection& connection, std::string_view name, const JsonArray& sessions,
                bool is_more) {
    std::vector<std::string> ids;
    for (const auto& session : sessions) ids.emplace_back(id_of(session));
    const auto shown = short_ids(connection, ids);
    std::string text =
        fmt::format("\"{}\" could be any of these sessions; give more of its id:", one_line(name));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto* object = sessions[i].if_object();
        if (object != nullptr) text += candidate_line(*object, shown ? (*shown)[i] : ids[i]);
    }
    if (is_more) text += "\n  and more";
    return {ErrorCode::invalid_params, std::move(text), {}, {}};
}

/// By its id or the beginning of it; nothing when there is none.
Result<std::optional<std::string>> find_by_id(client::Connection& connection,
                                              const std::string& name) {
    if (why_not_an_id(name)) return std::nullopt;
    const auto page = connection.call_object("session.find", {{"prefix", name}});
    // An older daemon, until it is restarted, knows whole ids alone.
    if (!page && page.error().code == ErrorCode::method_not_found) return name;
    if (!page) return std::unexpected(page.error());
    const auto sessions = sessions_of(*page);
    if (sessions.empty()) return std::nullopt;
    const bool is_whole = id_of(sessions.front()) == name;
    if (is_whole || sessions.size() == 1) return std::string(id_of(sessions.front()));
    // @1 is not meant to be the beginning of an id.
    if (place_in(name)) return std::nullopt;
    return std::unexpected(ambiguous(connection, name, sessions, wire::bool_at(*page, "more")));
}

/// An empty page where there is none.
Result<std::optional<JsonObject>> newest_of(client::Connection& connection, JsonObject params) {
    params["all"] = true;
    params["limit"] = 1;
    const auto page = connection.call_object("session.list", params);
    if (!page) return std::unexpected(page.error());
    const auto sessions = sessions_of(*page);
    if (sessions.empty() || !sessions.front().is_object()) return std::nullopt;
    return sessions.front().get_object();
}

Result<NamedSession> show_named(client::Connection& connection, const std::string& id) {
    auto shown = connection.call_object("session.show", {{"session_id", id}});
    if (!shown) return std::unexpected(std::move(shown.error()));
    return NamedSession{{{"session_id", id}}, std::move(*shown)};
}

}  // namespace

Result<std::string> find_id(client::Connection& connection, const std::string& name) {
    auto found = find_by_id(connection, name);
    if (!found) return std::unexpected(std::move(found.error()));
    if (*found) return std::move(**found);
    if (const auto place = place_in(name)) return find_by_place(connection, name, *place);
    if (const auto why = why_not_an_id(name)) {
        return fail(ErrorCode::invalid_params,
                    fmt::format("\"{}\" is no session id: it {}", one_line(name), *why));
    }
    return std::unexpected(no_such_session(name));
}

Result<std::string> find_id_or_keep(client::Connection& connection, const std::string& name) {
    auto found = find_id(connection, name);
    const bool is_unknown = !found && found.error().code == ErrorCode::not_found;
    if (is_unknown && !place_in(name)) return name;
    return found;
}

Result<std::vector<std::string>> short_ids(client::Connection& connection,
                                           const std::vector<std::string>& ids) {
    std::vector<std::string> shortened;
    while (shortened.size() < ids.size()) {
        const auto first = ids.begin() + static_cast<std::ptrdiff_t>(shortened.size());
        const auto count =
            std::min<std::ptrdiff_t>(ids.end() - first, std::ptrdiff_t{limits::list_page_max});
        auto answer =
            connection.call_object("session.short_ids", {{"ids", JsonArray(first, first + count)}});
        if (!answer) return std::unexpected(std::move(answer.error()));
        const auto* texts = wire::array_at(*answer, "short_ids");
        if (texts == nullptr || std::cmp_not_equal(texts->size(), count)) {
            return fail(ErrorCode::internal, "the daemon's answer does not hold an id for each");
        }
        for (const auto& text : *texts) {
            shortened.emplace_back(text.is_string() ? std::string_view(text.get_string())
                                                    : std::string_view{});
        }
    }
    return shortened;
}

void add_short_ids(client::Connection& connection, const std::vector<std::string>& ids,
                   ShortIds& known) {
    std::vector<std::string> missing;
    for (const auto& id : ids) {
        if (!why_not_an_id(id) && known.emplace(id, id).second) missing.push_back(id);
    }
    const auto shortened = short_ids(connection, missing);
    if (!shortened) return;
    for (std::size_t i = 0; i < missing.size(); ++i) known[missing[i]] = (*shortened)[i];
}

Result<NamedSession> find_named(client::Connection& connection, const std::string& name) {
    auto shown = show_named(connection, name);
    if (shown) return shown;
    // A key may hold what no id does.
    const auto code = shown.error().code;
    if (code != ErrorCode::not_found && code != ErrorCode::invalid_params) return shown;
    auto found = newest_of(connection, {{"key", name}, {"ended", false}});
    if (found && !*found) found = newest_of(connection, {{"key", name}});
    if (!found) return std::unexpected(std::move(found.error()));
    if (!*found && !why_not_an_id(name)) {
        const auto id = find_id(connection, name);
        if (id) return show_named(connection, *id);
        if (id.error().code != ErrorCode::not_found) return std::unexpected(id.error());
    }
    return NamedSession{{{"key", name}}, std::move(*found)};
}

Error no_session_named(std::string_view name) {
    return {ErrorCode::not_found,
            fmt::format("there is no session with the id or key {}; `knell ls --all` lists what "
                        "there is",
                        name),
            {},
            {}};
}

Result<JsonObject> find_session(client::Connection& connection, const std::string& name) {
    auto named = find_named(connection, name);
    if (!named) return std::unexpected(std::move(named.error()));
    if (!named->session) return std::unexpected(no_session_named(name));
    return std::move(*named->session);
}

}  // namespace knell::cli
