#include "cli/session_name.hpp"

#include <fmt/format.h>

namespace knell::cli {

namespace {

/// An empty page where there is none.
Result<std::optional<JsonObject>> newest_of(client::Connection& connection, JsonObject params) {
    params["all"] = true;
    params["limit"] = 1;
    const auto page = connection.call_object("session.list", params);
    if (!page) return std::unexpected(page.error());
    const auto* sessions = wire::array_at(*page, "sessions");
    if (sessions == nullptr || sessions->empty() || !sessions->front().is_object()) {
        return std::nullopt;
    }
    return sessions->front().get_object();
}

}  // namespace

Result<NamedSession> find_named(client::Connection& connection, const std::string& name) {
    auto shown = connection.call_object("session.show", {{"session_id", name}});
    if (shown) return NamedSession{{{"session_id", name}}, std::move(*shown)};
    // A key may hold what no id does.
    const auto code = shown.error().code;
    if (code != ErrorCode::not_found && code != ErrorCode::invalid_params) {
        return std::unexpected(std::move(shown.error()));
    }
    auto found = newest_of(connection, {{"key", name}, {"ended", false}});
    if (found && !*found) found = newest_of(connection, {{"key", name}});
    if (!found) return std::unexpected(std::move(found.error()));
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
