#include "cli/blocker_rows.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/process_rows.hpp"
#include "cli/relative_time.hpp"
#include "cli/shell_argument.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

using wire::text_at;

namespace {

/// Named in the line that stops them; for more of them there is --session.
constexpr std::size_t named_max = 4;

/// What a blocker has that a row of process.list has too.
constexpr std::array blocker_fields{"process_id", "pid",      "command",
                                    "started_at", "activity", "vouched_until"};

std::string age_of(const JsonObject& blocker, WallTime now) {
    const auto started = parse_rfc3339(text_at(blocker, "started_at"));
    if (!started) return {};
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *started);
    return format_duration(std::max(age, std::chrono::seconds{0}));
}

std::string hold_of(const JsonObject& blocker, WallTime now) {
    const auto vouched = text_at(blocker, "vouched_until");
    if (!vouched.empty()) return fmt::format("vouched for, ends {}", relative_time(vouched, now));
    return relative_time(text_at(blocker, "until"), now);
}

}  // namespace

JsonArray blockers_among(const JsonArray& processes) {
    JsonArray blockers;
    for (const auto& process : processes) {
        const auto* row = process.if_object();
        if (row == nullptr || !wire::bool_at(*row, "counts")) continue;
        JsonObject blocker;
        for (const auto* name : blocker_fields) {
            if (const auto* value = row->if_contains(name)) blocker[name] = *value;
        }
        blockers.emplace_back(std::move(blocker));
    }
    return blockers;
}

Table blocker_table(const JsonArray& blockers, WallTime now) {
    Table table({{.title = "PROCESS"},
                 {.title = "PID", .align = Align::right, .drop_order = 3},
                 {.title = "AGE"},
                 {.title = "ACTIVITY"},
                 {.title = "HOLDS UNTIL", .drop_order = 2},
                 {.title = "COMMAND", .shrink_to = 10}});
    for (const auto& blocker : blockers) {
        const auto* row = blocker.if_object();
        if (row == nullptr) continue;
        const auto activity = one_line(text_at(*row, "activity"));
        table.add({{one_line(text_at(*row, "process_id"))},
                   {fmt::format("{}", wire::int_at(*row, "pid"))},
                   {age_of(*row, now)},
                   {activity, tone_of_activity(activity)},
                   {hold_of(*row, now)},
                   {std::string(text_at(*row, "command"))}});
    }
    return table;
}

std::string blocker_advice(const JsonArray& blockers, std::string_view name) {
    std::string ids;
    for (const auto& blocker : blockers) {
        if (const auto* row = blocker.if_object()) {
            ids += fmt::format(" {}", one_line(text_at(*row, "process_id")));
        }
    }
    const auto stop = blockers.size() > named_max
                          ? std::string("knell stop --session ID (all of them)")
                          : fmt::format("knell stop{}", ids);
    return fmt::format(
        "Wait for it, stop it with: {}\nor reset all the same: knell reset --force {}", stop,
        shell_argument(name));
}

}  // namespace knell::cli
