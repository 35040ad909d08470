#include "cli/why_report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "cli/leftover_rows.hpp"
#include "cli/relative_time.hpp"
#include "cli/session_facts.hpp"
#include "cli/session_rows.hpp"
#include "cli/session_sentence.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

const JsonObject& session_in(const JsonObject& why) {
    static const JsonObject none;
    const auto* session = wire::object_at(why, "session");
    return session == nullptr ? none : *session;
}

struct Headline {
    std::string text;
    Tone tone = Tone::plain;
};

Headline headline(const JsonObject& why, WallTime now) {
    const auto& session = session_in(why);
    const auto id = text_at(session, "id");
    const auto verdict = text_at(why, "verdict");
    const auto evidence = text_at(why, "evidence");
    if (verdict == "alive") return {fmt::format("{} is alive: {}", id, evidence), Tone::good};
    if (verdict == "dead" && text_at(session, "ended_at").empty()) {
        return {fmt::format("{} has just ended: {}", id, evidence), Tone::warning};
    }
    if (verdict == "dead") {
        return {fmt::format("{} ended {}: {}", id, relative_time(text_at(session, "ended_at"), now),
                            end_text(session)),
                tone_of_end(session)};
    }
    return {fmt::format("whether {} is alive is {}: {}", id, verdict, evidence), Tone::warning};
}

std::vector<Fact> facts_of(const JsonObject& session, const ShownTime& shown) {
    const auto status = text_at(session, "status");
    return {{"status", std::string(status), tone_of_status(status)},
            {"title", std::string(text_at(session, "title"))},
            {"owner", owner_text(session, shown)},
            {"when it is lost", owner_loss_text(session)},
            {"started", time_of(session, "started_at", shown)},
            {"last activity", time_of(session, "last_activity_at", shown)},
            {"last interaction", time_of(session, "last_interaction_at", shown)},
            {"last sign of life", time_of(session, "last_seen_at", shown)},
            {"turn since", time_of(session, "turn_since", shown)},
            {"unknown since", time_of(session, "unknown_since", shown), Tone::warning},
            {"stalled since", time_of(session, "stalled_since", shown), Tone::warning},
            {"parked since", time_of(session, "parked_since", shown), Tone::warning},
            {"how its owner went", std::string(text_at(session, "park_why"))},
            {"ended", time_of(session, "ended_at", shown)},
            {"", bounds_text(session, shown.zone)},
            {"evidence", std::string(text_at(session, "evidence"))}};
}

/// A heading and what stands under it, an empty line before it.
std::string section(std::string_view title, const std::string& body, const Terminal& terminal) {
    return body.empty() ? body
                        : fmt::format("\n{}\n{}", toned(title, Tone::heading, terminal), body);
}

/// For a terminal on which the table would have to leave out what it is asked for: the evidence.
std::string transitions_list(const JsonArray& transitions, const Terminal& terminal,
                             ShownZone zone) {
    constexpr std::size_t indent = 2;
    const Wrapping below{.width = terminal.width, .indent = indent, .before = indent};
    std::string text;
    for (const auto& transition : transitions) {
        const auto* object = transition.if_object();
        if (object == nullptr) continue;
        const auto generation = int_at(*object, "generation");
        text += fmt::format("{} {}{}\n",
                            toned(exact_time_of(*object, "time", zone), Tone::faint, terminal),
                            one_line(text_at(*object, "event")),
                            generation > 1 ? fmt::format(" gen {}", generation) : "");
        for (const auto* name : {"cause", "evidence"}) {
            const auto line = one_line(text_at(*object, name));
            if (!line.empty()) text += fmt::format("{:{}}{}\n", "", indent, wrap(line, below));
        }
    }
    return text;
}

/// Times in full: who asks why compares them with a log.
std::string transitions_text(const JsonObject& why, const Terminal& terminal, ShownZone zone) {
    const auto* transitions = wire::array_at(why, "transitions");
    if (transitions == nullptr || transitions->empty()) return {};
    Table table({{.title = "TIME"},
                 {.title = "GEN", .align = Align::right},
                 {.title = "EVENT"},
                 {.title = "CAUSE"},
                 {.title = "EVIDENCE"}});
    for (const auto& transition : *transitions) {
        const auto* object = transition.if_object();
        if (object == nullptr) continue;
        table.add({{exact_time_of(*object, "time", zone), Tone::faint},
                   {fmt::format("{}", int_at(*object, "generation"))},
                   {std::string(text_at(*object, "event"))},
                   {std::string(text_at(*object, "cause"))},
                   {std::string(text_at(*object, "evidence")), Tone::faint}});
    }
    return table.fits(terminal) ? table.render(terminal)
                                : transitions_list(*transitions, terminal, zone);
}

std::string what_was_left(const JsonObject& session, const Terminal& terminal) {
    const auto* leftovers = wire::array_at(session, "leftovers");
    if (leftovers == nullptr || leftovers->empty()) return {};
    return leftovers_text(*leftovers, terminal);
}

/// " (in 31 s)": up to the next whole second, so that it is never shown as past.
std::string due_text(const JsonObject& cause) {
    const auto* due = cause.if_contains("due_in_s");
    if (due == nullptr || !due->is_number()) return {};
    const std::chrono::seconds left{
        static_cast<std::int64_t>(std::ceil(std::max(0.0, due->to_number<double>())))};
    if (left < std::chrono::minutes{1}) return fmt::format(" (in {} s)", left.count());
    return fmt::format(" (in {})", format_duration(left));
}

std::string reset_text(const JsonObject& why, const Terminal& terminal) {
    const Wrapping hanging{.width = terminal.width, .indent = 2, .before = 2};
    const auto* sentences = wire::array_at(why, "reset_explained");
    std::string text;
    if (sentences == nullptr) return text;
    for (const auto& sentence : *sentences) {
        if (const auto* words = sentence.if_string()) {
            text += fmt::format("- {}\n", wrap(one_line(*words), hanging));
        }
    }
    return text;
}

/// How the last calls of its tools went; "" where none were reported.
std::string tools_text(const JsonObject& why, const Terminal& terminal, WallTime now) {
    const auto* guard = wire::object_at(why, "guard");
    if (guard == nullptr) return {};
    const Wrapping hanging{.width = terminal.width, .indent = 2, .before = 2};
    const auto line = [&](std::string_view words) {
        return fmt::format("- {}\n", wrap(one_line(words), hanging));
    };
    const auto streak = [&](std::string_view name) { return int_at(*guard, name); };
    auto last = fmt::format("the last call was of {}", text_at(*guard, "tool"));
    if (streak("errors") > 0) last += fmt::format("; {} in a row have failed", streak("errors"));
    if (streak("same_call") > 1) last += fmt::format("; the same {} times", streak("same_call"));
    if (streak("same_tool") > 1) {
        last += fmt::format("; {} of this tool in a row", streak("same_tool"));
    }
    if (const auto error = text_at(*guard, "error"); !error.empty()) {
        last += fmt::format("; the last error: {}", error);
    }
    auto text = line(last);
    if (const auto* nudge = wire::object_at(*guard, "nudge")) {
        text += line(fmt::format("told {} ({}): {}", relative_time(text_at(*nudge, "at"), now),
                                 text_at(*nudge, "level"), text_at(*nudge, "text")));
    }
    const auto* breaker = wire::object_at(*guard, "breaker");
    const auto state = breaker == nullptr ? std::string_view{} : text_at(*breaker, "state");
    if (state == "open") text += line("the circuit breaker is open: calls are refused");
    if (state == "half_open") text += line("the circuit breaker has let one call through");
    return text;
}

std::string would_end_text(const JsonObject& why, const Terminal& terminal) {
    const Wrapping hanging{.width = terminal.width, .indent = 2, .before = 2};
    const auto* causes = wire::array_at(why, "would_end");
    std::string text;
    if (causes == nullptr) return text;
    for (const auto& cause : *causes) {
        if (const auto* object = cause.if_object()) {
            const auto line = one_line(text_at(*object, "cause")) + due_text(*object);
            text += fmt::format("- {}\n", wrap(line, hanging));
        }
    }
    return text;
}

}  // namespace

std::string why_report(const JsonObject& why, const Terminal& terminal, const ShownTime& shown,
                       std::string_view home) {
    const auto& session = session_in(why);
    const auto head = headline(why, shown.now);
    const auto sentence = session_sentence(session, home, shown.now);
    return fmt::format(
        "{}\n{}\n\n{}{}{}{}{}{}",
        toned(wrap(sentence, {.width = terminal.width}), Tone::heading, terminal),
        toned(wrap(one_line(head.text), {.width = terminal.width}), head.tone, terminal),
        render_facts(facts_of(session, shown), terminal),
        section("History", transitions_text(why, terminal, shown.zone), terminal),
        section("Calls of its tools", tools_text(why, terminal, shown.now), terminal),
        section("Left behind when it ended", what_was_left(session, terminal), terminal),
        section("When its conversation begins anew", reset_text(why, terminal), terminal),
        section("What would end it", would_end_text(why, terminal), terminal));
}

}  // namespace knell::cli
