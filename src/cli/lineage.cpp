#include "cli/lineage.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/relative_time.hpp"
#include "cli/session_facts.hpp"
#include "cli/session_rows.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

/// Follows the ids under `name` from `session` on.  True: there are more.
Result<bool> follow(client::Connection& connection, const JsonObject& session,
                    std::string_view name, std::vector<JsonObject>& found) {
    std::string next(text_at(session, name));
    while (!next.empty()) {
        if (found.size() == lineage_steps_max) return true;
        auto shown = connection.call_object("session.show", {{"session_id", next}});
        if (!shown && shown.error().code == ErrorCode::not_found) {
            found.push_back({{"id", next}});
            return false;
        }
        if (!shown) return std::unexpected(std::move(shown.error()));
        next = text_at(*shown, name);
        found.push_back(std::move(*shown));
    }
    return false;
}

std::string state_text(const JsonObject& session, WallTime now) {
    const auto status = text_at(session, "status");
    if (status.empty()) return "not on record";
    if (status != "ended") return std::string(status);
    return fmt::format("ended {}: {}", relative_time(text_at(session, "ended_at"), now),
                       end_text(session));
}

Tone tone_of(const JsonObject& session) {
    const auto status = text_at(session, "status");
    return status == "ended" ? tone_of_end(session) : tone_of_status(status);
}

}  // namespace

Result<Lineage> read_lineage(client::Connection& connection, const JsonObject& session) {
    Lineage lineage;
    const auto older = follow(connection, session, "parent_id", lineage.sessions);
    if (!older) return std::unexpected(older.error());
    std::ranges::reverse(lineage.sessions);
    lineage.has_older = *older;
    lineage.place = lineage.sessions.size();
    std::vector<JsonObject> newer;
    const auto is_more = follow(connection, session, "successor", newer);
    if (!is_more) return std::unexpected(is_more.error());
    lineage.has_newer = *is_more;
    lineage.sessions.push_back(session);
    std::ranges::move(newer, std::back_inserter(lineage.sessions));
    return lineage;
}

std::string lineage_text(const Lineage& lineage, const Terminal& terminal, WallTime now) {
    if (lineage.sessions.size() < 2) return {};
    std::string text = lineage.has_older ? "...\n" : "";
    std::size_t depth = 0;
    for (const auto& session : lineage.sessions) {
        std::string line(depth * 2, ' ');
        const auto relation = one_line(text_at(session, "relation"));
        if (depth > 0 || lineage.has_older) line += fmt::format("└ {}: ", relation);
        line += one_line(text_at(session, "id"));
        const bool is_this = &session == &lineage.sessions[lineage.place];
        if (is_this) line += " (this one)";
        const auto state = one_line(state_text(session, now));
        const auto indent = depth * 2 + 4;
        const Wrapping hanging{
            .width = terminal.width, .indent = indent, .before = display_width(line) + 2};
        text += fmt::format("{}  {}\n", is_this ? toned(line, Tone::heading, terminal) : line,
                            toned(wrap(state, hanging), tone_of(session), terminal));
        ++depth;
    }
    if (lineage.has_newer) text += fmt::format("{:{}}...\n", "", depth * 2);
    return text;
}

}  // namespace knell::cli
