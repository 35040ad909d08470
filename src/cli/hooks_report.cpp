#include "cli/hooks_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/relative_time.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

using wire::array_at;
using wire::int_at;
using wire::text_at;

Tone tone_of(std::string_view state) {
    if (state == "active") return Tone::good;
    if (state == "failing" || state == "disabled") return Tone::bad;
    return Tone::faint;
}

std::string when(const JsonObject& object, std::string_view field, WallTime now) {
    const auto time = text_at(object, field);
    return time.empty() ? "-" : relative_time(time, now);
}

/// A try that is due is made "now": it is ahead, however little.
std::string next_try(const JsonObject& object, WallTime now) {
    auto text = when(object, "next_try_at", now);
    return text == "just now" ? "now" : text;
}

std::string count(const JsonObject& object, std::string_view field) {
    return fmt::format("{}", int_at(object, field));
}

/// It is there and something is wrong with it.
bool is_refused(const JsonObject& hook, const JsonObject& result) {
    const auto* problems = array_at(result, "problems");
    if (problems == nullptr) return false;
    return std::ranges::any_of(*problems, [&](const auto& problem) {
        return text_at(problem.as_object(), "name") == text_at(hook, "name");
    });
}

/// What a person would want to know first about one that does not just work.
std::string remark(const JsonObject& hook, const JsonObject& result) {
    const auto state = text_at(hook, "state");
    if (state == "absent" && is_refused(hook, result)) return "not used: see below";
    if (state == "absent") return "its directory or its entry in config.yaml is gone";
    if (state == "disabled")
        return fmt::format("{}; knell hooks resume", text_at(hook, "last_error"));
    if (state == "failing" || int_at(hook, "waiting") > 0) {
        return std::string(text_at(hook, "last_error"));
    }
    if (const auto lost = int_at(hook, "lost"); lost > 0) {
        return fmt::format("{} events were no longer kept", lost);
    }
    if (const auto* remarks = array_at(hook, "remarks"); remarks != nullptr && !remarks->empty()) {
        if (const auto* text = remarks->front().if_string()) return std::string(*text);
    }
    return {};
}

}  // namespace

std::string hooks_table(const JsonObject& result, const Terminal& terminal,
                        const std::string& hooks_dir) {
    const auto now = read_clocks().wall;
    std::string text;
    const auto* hooks = array_at(result, "hooks");
    if (hooks == nullptr || hooks->empty()) {
        text = fmt::format(
            "no hooks; put a directory with a HOOK.yaml and a program into {}, or webhooks into "
            "config.yaml\n",
            hooks_dir);
    } else {
        Table table({{.title = "NAME"},
                     {.title = "KIND", .drop_order = 2},
                     {.title = "STATE"},
                     {.title = "LAST DELIVERY", .drop_order = 4},
                     {.title = "LAG", .align = Align::right, .drop_order = 3},
                     {.title = "FAILURES", .align = Align::right, .drop_order = 1},
                     {.title = "WAITING", .align = Align::right},
                     {.title = "DEAD", .align = Align::right, .drop_order = 6},
                     {.title = "NEXT TRY", .drop_order = 5},
                     {.title = "REMARK", .shrink_to = 20}});
        for (const auto& value : *hooks) {
            const auto& hook = value.as_object();
            const auto state = text_at(hook, "state");
            table.add({{std::string(text_at(hook, "name"))},
                       {std::string(text_at(hook, "kind"))},
                       {std::string(state), tone_of(state)},
                       {when(hook, "last_delivery_at", now)},
                       {count(hook, "lag")},
                       {count(hook, "failures")},
                       {count(hook, "waiting")},
                       {count(hook, "dead"), int_at(hook, "dead") > 0 ? Tone::bad : Tone::plain},
                       {next_try(hook, now)},
                       {remark(hook, result)}});
        }
        text = table.render(terminal);
    }
    if (const auto* problems = array_at(result, "problems"); problems != nullptr) {
        for (const auto& problem : *problems) {
            text += wrap(fmt::format("not used: {}", text_at(problem.as_object(), "message")),
                         {.width = terminal.width, .indent = 2}) +
                    "\n";
        }
    }
    return text;
}

std::string letters_table(const JsonObject& result, const Terminal& terminal, bool only_dead) {
    const auto now = read_clocks().wall;
    const auto* letters = array_at(result, "letters");
    if (letters == nullptr || letters->empty()) {
        return only_dead ? "nothing was given up\n" : "nothing waits and nothing was given up\n";
    }
    Table table({{.title = "NAME"},
                 {.title = "SEQ", .align = Align::right},
                 {.title = "TYPE", .drop_order = 4},
                 {.title = "SESSION", .drop_order = 1},
                 {.title = "STATE"},
                 {.title = "ATTEMPTS", .align = Align::right, .drop_order = 2},
                 {.title = "NEXT TRY", .drop_order = 3},
                 {.title = "LAST ERROR", .shrink_to = 20}});
    for (const auto& value : *letters) {
        const auto& letter = value.as_object();
        const auto state = text_at(letter, "state");
        table.add({{std::string(text_at(letter, "name"))},
                   {count(letter, "seq")},
                   {std::string(text_at(letter, "type"))},
                   {std::string(text_at(letter, "session_id"))},
                   {std::string(state), state == "dead" ? Tone::bad : Tone::plain},
                   {count(letter, "attempts")},
                   {next_try(letter, now)},
                   {std::string(text_at(letter, "last_error"))}});
    }
    return table.render(terminal);
}

std::string test_report(const std::string& name, const JsonObject& result) {
    const auto took = int_at(result, "took_ms");
    const auto output = text_at(result, "output");
    auto text =
        wire::bool_at(result, "delivered")
            ? fmt::format("{} took the test event in {} ms\n", name, took)
            : fmt::format("{} failed after {} ms: {}\n", name, took, text_at(result, "what"));
    if (!output.empty()) {
        text += fmt::format("its output:\n{}{}", output, output.ends_with('\n') ? "" : "\n");
    }
    return text;
}

}  // namespace knell::cli
