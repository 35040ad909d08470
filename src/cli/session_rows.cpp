#include "cli/session_rows.hpp"

#include <fmt/format.h>

#include "cli/relative_time.hpp"

namespace knell::cli {

namespace {

using wire::text_at;

std::string owner_text(const JsonObject& session) {
    const auto* owner = wire::object_at(session, "owner");
    if (owner == nullptr) return {};
    if (owner->contains("pid")) return fmt::format("{}", wire::int_at(*owner, "pid"));
    return std::string(text_at(*owner, "kind"));
}

std::vector<Cell> row_of(const JsonObject& session, WallTime now) {
    const auto status = text_at(session, "status");
    const bool ended = status == "ended";
    const auto last = ended ? text_at(session, "ended_at") : text_at(session, "last_activity_at");
    return {{std::string(text_at(session, "id"))},
            {std::string(status), tone_of_status(status)},
            {std::string(text_at(session, "source"))},
            {std::string(text_at(session, "title"))},
            {relative_time(text_at(session, "started_at"), now)},
            {relative_time(last, now)},
            {std::string(text_at(session, "reason")), tone_of_end(session)},
            {owner_text(session), ended ? Tone::faint : Tone::plain}};
}

}  // namespace

Tone tone_of_status(std::string_view status) {
    if (status == "running" || status == "attached") return Tone::good;
    if (status == "stalled" || status == "unknown") return Tone::warning;
    if (status == "ended") return Tone::faint;
    return Tone::plain;
}

Tone tone_of_end(const JsonObject& session) {
    const auto reason = text_at(session, "reason");
    if (reason == "signaled" || reason == "oom_killed") return Tone::bad;
    if (reason == "exited" || reason == "owner_lost" || reason == "host_restart" ||
        reason == "reaped" || reason == "node_lost") {
        return Tone::warning;
    }
    return Tone::faint;
}

Table session_table(const JsonArray& sessions, WallTime now) {
    Table table({{.title = "ID"},
                 {.title = "STATUS"},
                 {.title = "SOURCE", .shrink_to = 8, .drop_order = 3},
                 {.title = "TITLE", .shrink_to = 12},
                 {.title = "AGE", .drop_order = 2},
                 {.title = "ACTIVE", .drop_order = 5},
                 {.title = "END", .drop_order = 4},
                 {.title = "OWNER", .align = Align::right, .drop_order = 1}});
    for (const auto& session : sessions) {
        if (const auto* object = session.if_object()) table.add(row_of(*object, now));
    }
    return table;
}

}  // namespace knell::cli
