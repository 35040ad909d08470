#include "cli/session_rows.hpp"

#include <algorithm>

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

bool has_ended(const JsonObject& session) {
    return text_at(session, "status") == "ended";
}

/// Which columns there are.
enum class Room : std::uint8_t { ample, scarce };

std::vector<Column> columns_for(Room room, bool has_ends) {
    if (room == Room::scarce) {
        return {{.title = "ID"},
                {.title = "STATUS"},
                {.title = "AGE", .drop_order = 2},
                {.title = "DIR", .shrink_to = 8, .drop_order = 1, .keep_end = true},
                {.title = "WHAT", .shrink_to = 8}};
    }
    std::vector<Column> columns{{.title = "ID"}, {.title = "STATUS"}};
    if (has_ends) columns.push_back({.title = "END"});
    columns.insert(columns.end(), {{.title = "AGE"},
                                   {.title = "ACTIVE", .drop_order = 3},
                                   {.title = "SOURCE", .shrink_to = 8, .drop_order = 2},
                                   {.title = "OWNER", .align = Align::right, .drop_order = 1},
                                   {.title = "DIR", .shrink_to = 10, .keep_end = true},
                                   {.title = "WHAT", .shrink_to = 16}});
    return columns;
}

struct Row {
    const JsonObject& session;
    std::string id;
    WallTime now;
    const std::string& home;
};

std::vector<Cell> cells_of(const Row& row, Room room, bool has_ends) {
    const auto& session = row.session;
    const bool ended = has_ended(session);
    const auto status = text_at(session, "status");
    const auto rest = ended ? Tone::faint : Tone::plain;
    const Cell age{age_text(text_at(session, "started_at"), row.now), rest};
    const Cell directory{short_directory(text_at(session, "cwd"), row.home), Tone::faint};
    const Cell what{std::string(what_of(session)), rest};
    if (room == Room::scarce) {
        const Cell state{ended ? std::string(text_at(session, "reason")) : std::string(status),
                         ended ? tone_of_end(session) : tone_of_status(status)};
        return {{row.id, rest}, state, age, directory, what};
    }
    std::vector<Cell> cells{{row.id, rest}, {std::string(status), tone_of_status(status)}};
    if (has_ends) cells.push_back({short_end_text(session), tone_of_end(session)});
    const auto last = text_at(session, ended ? "ended_at" : "last_activity_at");
    cells.insert(cells.end(), {age,
                               {age_text(last, row.now), rest},
                               {std::string(text_at(session, "source")), rest},
                               {owner_text(session), rest},
                               directory,
                               what});
    return cells;
}

Table table_for(Room room, const JsonArray& sessions, WallTime now, const SessionView& view) {
    const bool has_ends = std::ranges::any_of(sessions, [](const Json& session) {
        const auto* object = session.if_object();
        return object != nullptr && has_ended(*object);
    });
    Table table(columns_for(room, has_ends));
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        const auto* session = sessions[i].if_object();
        if (session == nullptr) continue;
        const auto id = i < view.ids.size() ? view.ids[i] : std::string(text_at(*session, "id"));
        table.add(cells_of({*session, id, now, view.home}, room, has_ends));
    }
    return table;
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

std::string_view what_of(const JsonObject& session) {
    const auto title = text_at(session, "title");
    const auto* owner = wire::object_at(session, "owner");
    return title.empty() && owner != nullptr ? text_at(*owner, "command") : title;
}

std::string short_end_text(const JsonObject& session) {
    std::string text(text_at(session, "reason"));
    std::string_view detail = text_at(session, "detail");
    if (text == "signaled" && detail.starts_with("signal ")) {
        const auto name = detail.find('(');
        const auto end = detail.find(')');
        const bool is_named = name != std::string_view::npos && end != std::string_view::npos;
        detail = is_named && name < end ? detail.substr(name + 1, end - name - 1)
                                        : detail.substr(7, detail.find(' ', 7) - 7);
        return fmt::format("{} {}", text, detail);
    }
    if (text == "exited" && detail.starts_with("exit ")) {
        return fmt::format("{} {}", text, detail.substr(5, detail.find_first_of(" ,;:", 5) - 5));
    }
    return text;
}

std::string short_directory(std::string_view directory, std::string_view home) {
    while (home.size() > 1 && home.ends_with('/')) home.remove_suffix(1);
    const bool is_in = home.size() > 1 && directory.starts_with(home) &&
                       (directory.size() == home.size() || directory[home.size()] == '/');
    return is_in ? fmt::format("~{}", directory.substr(home.size())) : std::string(directory);
}

Table session_table(const JsonArray& sessions, WallTime now, const SessionView& view) {
    auto table = table_for(Room::ample, sessions, now, view);
    if (table.fits_on_lines(view.terminal)) return table;
    return table_for(Room::scarce, sessions, now, view);
}

}  // namespace knell::cli
