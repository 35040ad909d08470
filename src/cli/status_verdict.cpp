#include "cli/status_verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/bytes_text.hpp"
#include "cli/shell_argument.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

/// Below either the next commits may fail: SQLite needs room for its write-ahead log.
constexpr std::int64_t disk_free_min = 64LL << 20;
constexpr std::int64_t disk_share_min = 200;  // one part in so many

std::string_view plural(std::int64_t count, std::string_view one, std::string_view more) {
    return count == 1 ? one : more;
}

void judge_sessions(const JsonObject& status, StatusVerdict& verdict) {
    const auto* sessions = wire::object_at(status, "sessions");
    const auto unknown = sessions == nullptr ? 0 : int_at(*sessions, "unknown");
    if (unknown > 0) {
        verdict.problems.push_back(
            fmt::format("{} {} that cannot be checked, so nothing is ended: knell ls --status "
                        "unknown lists them, knell why ID says what is in the way",
                        unknown, plural(unknown, "session has an owner", "sessions have owners")));
    }
    const auto* leaks = wire::object_at(status, "leaks");
    const auto leaked = leaks == nullptr ? 0 : int_at(*leaks, "ended_without_reason");
    if (leaked > 0) {
        verdict.problems.push_back(fmt::format(
            "{} ended without a reason, which only another program can have written: see "
            "knell ls --ended",
            fmt::format("{} {}", leaked, plural(leaked, "session", "sessions"))));
    }
    const auto* resets = wire::object_at(status, "resets");
    const auto held = resets == nullptr ? 0 : int_at(*resets, "held");
    if (held > 0) {
        verdict.remarks.push_back(
            fmt::format("{} due and held back by background work: knell why ID names it",
                        fmt::format("{} {}", held, plural(held, "reset is", "resets are"))));
    }
}

void judge_hook(const JsonObject& hook, StatusVerdict& verdict) {
    const auto name = one_line(text_at(hook, "name"));
    const auto word = shell_argument(text_at(hook, "name"));
    const auto kind = text_at(hook, "kind") == "webhook" ? "webhook" : "hook";
    const auto state = text_at(hook, "state");
    if (state == "failing") {
        verdict.problems.push_back(
            fmt::format("{} {} fails ({}); it is tried again. Its deliveries: knell hooks letters "
                        "{}",
                        kind, name, one_line(text_at(hook, "last_error")), word));
    } else if (state == "disabled") {
        verdict.problems.push_back(
            fmt::format("{} {} was disabled ({}). Once that is mended: knell hooks resume {}", kind,
                        name, one_line(text_at(hook, "last_error")), word));
    } else if (state == "paused") {
        verdict.remarks.push_back(
            fmt::format("{} {} is paused; to go on: knell hooks resume {}", kind, name, word));
    }
    const auto dead = int_at(hook, "dead");
    if (dead > 0) {
        verdict.problems.push_back(fmt::format(
            "{} {} never reached {} {}. To send {} again: knell hooks retry {}", dead,
            plural(dead, "event", "events"), kind, name, plural(dead, "it", "them"), word));
    }
}

/// As what is degraded, too.
bool is_told(std::string_view message, const StatusVerdict& verdict) {
    const auto text = one_line(message);
    return std::ranges::any_of(verdict.problems,
                               [&](const std::string& told) { return told.contains(text); });
}

void judge_hooks(const JsonObject& hooks, StatusVerdict& verdict) {
    if (const auto* all = wire::array_at(hooks, "hooks")) {
        for (const auto& hook : *all) {
            if (const auto* object = hook.if_object()) judge_hook(*object, verdict);
        }
    }
    const auto* problems = wire::array_at(hooks, "problems");
    if (problems == nullptr) return;
    for (const auto& problem : *problems) {
        const auto* object = problem.if_object();
        if (object == nullptr || is_told(text_at(*object, "message"), verdict)) continue;
        verdict.problems.push_back(fmt::format("{} cannot be used: {}",
                                               one_line(text_at(*object, "name")),
                                               one_line(text_at(*object, "message"))));
    }
}

}  // namespace

StatusVerdict judge_status(const JsonObject& status, const DaemonSurroundings& around) {
    StatusVerdict verdict;
    if (const auto* reasons = wire::array_at(status, "degraded")) {
        for (const auto& reason : *reasons) {
            if (const auto* text = reason.if_string()) {
                verdict.problems.push_back("degraded: " + one_line(*text));
            }
        }
    }
    judge_sessions(status, verdict);
    judge_hooks(around.hooks, verdict);
    if (around.disk_free && around.disk_bytes) {
        const auto least = std::max(disk_free_min, *around.disk_bytes / disk_share_min);
        if (*around.disk_free < least) {
            verdict.problems.push_back(
                fmt::format("the disk of the store has {} left; make room, or nothing can be "
                            "recorded soon",
                            format_bytes(*around.disk_free)));
        }
    }
    if (around.leftovers > 0) {
        verdict.remarks.push_back(
            fmt::format("{} that sessions left behind: knell ps lists {}",
                        fmt::format("{} {}", around.leftovers,
                                    plural(around.leftovers, "process runs", "processes run")),
                        plural(around.leftovers, "it", "them")));
    }
    return verdict;
}

}  // namespace knell::cli
