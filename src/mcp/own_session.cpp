#include "mcp/own_session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell::mcp {

namespace {

/// Of session.list: past so many open sessions the agent has to say which one is its own.
constexpr int pages_max = 10;

/// Its place among the ancestors; their number when its owner is none of them.
std::size_t distance(const Json& session, std::span<const pid_t> ancestors) {
    const auto* row = session.if_object();
    const auto* owner = row == nullptr ? nullptr : wire::object_at(*row, "owner");
    const auto pid = owner == nullptr ? 0 : wire::int_at(*owner, "pid");
    if (pid <= 0) return ancestors.size();
    return static_cast<std::size_t>(std::ranges::find(ancestors, pid) - ancestors.begin());
}

Result<JsonArray> open_sessions(Surroundings& surroundings) {
    JsonArray all;
    JsonObject params{{"ended", false}, {"all", true}, {"limit", limits::list_page_max}};
    for (int page = 0; page < pages_max; ++page) {
        auto result = surroundings.call("session.list", params);
        if (!result) return std::unexpected(std::move(result.error()));
        if (const auto* sessions = wire::array_at(*result, "sessions")) {
            all.insert(all.end(), sessions->begin(), sessions->end());
        }
        const auto next = wire::text_at(*result, "next");
        if (next.empty()) break;
        params["cursor"] = next;
    }
    return all;
}

}  // namespace

Result<std::string> session_of_nearest(const JsonArray& sessions,
                                       std::span<const pid_t> ancestors) {
    std::size_t nearest = ancestors.size();
    std::vector<std::string> found;
    for (const auto& session : sessions) {
        const auto place = distance(session, ancestors);
        if (place == ancestors.size() || place > nearest) continue;
        if (place < nearest) found.clear();
        nearest = place;
        found.emplace_back(wire::text_at(session.get_object(), "id"));
    }
    if (found.empty()) return std::string{};
    if (found.size() == 1) return found.front();
    std::string names;
    for (const auto& id : found) names += (names.empty() ? "" : ", ") + id;
    return fail(ErrorCode::owned,
                fmt::format("this agent (process {}) owns several sessions; give session_id, one "
                            "of: {}",
                            ancestors[nearest], names));
}

Result<std::string> find_own_session(Surroundings& surroundings) {
    if (auto named = surroundings.named_session(); !named.empty()) return named;
    const auto ancestors = surroundings.ancestors();
    if (!ancestors.empty()) {
        const auto sessions = open_sessions(surroundings);
        if (!sessions) return std::unexpected(sessions.error());
        auto found = session_of_nearest(*sessions, ancestors);
        if (!found || !found->empty()) return found;
    }
    return fail(ErrorCode::not_found,
                "it is not known which session this agent runs in: give session_id, or start the "
                "agent by `knell run`");
}

}  // namespace knell::mcp
