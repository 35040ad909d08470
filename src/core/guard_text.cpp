#include "core/guard_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/names.hpp"

namespace knell {

namespace {

constexpr std::size_t letter_size = 3;  // of those below, in UTF-8

/// Breaks a line unseen (U+2028, U+2029) or turns the direction (U+202A-E, U+2066-9).
bool is_harmful(std::string_view letter) {
    if (letter.size() < letter_size || letter[0] != '\xe2') return false;
    const auto last = static_cast<unsigned char>(letter[2]);
    if (letter[1] == '\x80') return last >= 0xa8 && last <= 0xae;
    return letter[1] == '\x81' && last >= 0xa6 && last <= 0xa9;
}

std::string last_error(std::string_view error) {
    return error.empty() ? std::string{} : fmt::format(" The last error: \"{}\".", error);
}

std::string_view instead_of_errors(NudgeLevel level) {
    switch (level) {
        case NudgeLevel::advice:
            return "Before the next call, read the error and check what the call takes for "
                   "granted: that the path, the name or the option exists.";
        case NudgeLevel::warning:
            return "Do not send a variation of the same: take one smaller step whose outcome you "
                   "can check, or use another tool.";
        case NudgeLevel::stop_and_rethink:
            break;
    }
    return "Stop and rethink: make no further call now, write down what you tried and what is in "
           "the way, and ask the user how to go on.";
}

std::string_view instead_of_same_call(NudgeLevel level) {
    switch (level) {
        case NudgeLevel::advice:
            return "It will not give anything new: use the result you have, or change the "
                   "arguments.";
        case NudgeLevel::warning:
            return "Find out what you expect to change, and look at that with another tool.";
        case NudgeLevel::stop_and_rethink:
            break;
    }
    return "Stop and rethink: do not make this call again; say what you are waiting for, and go on "
           "with something else or ask the user.";
}

std::string_view instead_of_same_tool(NudgeLevel level) {
    switch (level) {
        case NudgeLevel::advice:
            return "See whether one broader call, or another tool, gets you there at once.";
        case NudgeLevel::warning:
            return "Sum up what these calls have told you so far, and decide on that before the "
                   "next one.";
        case NudgeLevel::stop_and_rethink:
            break;
    }
    return "Stop and rethink: state the goal and what is still missing, and choose another way to "
           "it or ask the user.";
}

std::string_view instead_of_cycle(NudgeLevel level) {
    switch (level) {
        case NudgeLevel::advice:
            return "Neither of the two changes what the other finds: take a third step.";
        case NudgeLevel::warning:
            return "Name the one thing that must be different before either can succeed, and do "
                   "that first.";
        case NudgeLevel::stop_and_rethink:
            break;
    }
    return "Stop and rethink: make neither of these calls again, say what keeps you going round, "
           "and ask the user.";
}

/// What was done, and how often.
std::string finding(const Stuck& stuck) {
    switch (stuck.kind) {
        case NudgeKind::errors:
            return fmt::format("{} tool calls in a row have failed, the last one of {}.",
                               stuck.streak, stuck.tool);
        case NudgeKind::same_call:
            return fmt::format(
                "{} was called {} times in a row with the same arguments and the same result.",
                stuck.tool, stuck.streak);
        case NudgeKind::same_tool:
            return fmt::format("{} was called {} times in a row.", stuck.tool, stuck.streak);
        case NudgeKind::cycle:
            break;
    }
    if (stuck.tool == stuck.other_tool) {
        return fmt::format(
            "The last {} calls were the same two of {} by turns, with the same "
            "results.",
            stuck.streak, stuck.tool);
    }
    return fmt::format(
        "The last {} calls were the same two by turns, {} and {}, with the same "
        "results.",
        stuck.streak, stuck.other_tool, stuck.tool);
}

std::string_view instead(const Stuck& stuck) {
    switch (stuck.kind) {
        case NudgeKind::errors:
            return instead_of_errors(stuck.level);
        case NudgeKind::same_call:
            return instead_of_same_call(stuck.level);
        case NudgeKind::same_tool:
            return instead_of_same_tool(stuck.level);
        case NudgeKind::cycle:
            break;
    }
    return instead_of_cycle(stuck.level);
}

}  // namespace

std::string harmless_line(std::string_view text, std::size_t bytes_max) {
    // Cut first: who is handed a megabyte looks at the beginning.  A letter that is cut in two is
    // dropped, so what is left of it must not make the rest unreadable.
    auto line = printable_line(trimmed(text).substr(0, bytes_max + letter_size));
    for (std::size_t i = 0; i + letter_size <= line.size(); ++i) {
        if (is_harmful(std::string_view(line).substr(i))) line.replace(i, letter_size, "?");
    }
    return std::string(cut_text(line, bytes_max));
}

std::string nudge_text(const Stuck& stuck) {
    return fmt::format("{}{} {}", finding(stuck), last_error(stuck.error), instead(stuck));
}

std::string refusal_text(const GuardState& state, std::chrono::seconds left) {
    const auto& breaker = state.breaker;
    const auto what =
        breaker.kind == NudgeKind::errors      ? std::string("tool calls")
        : breaker.kind == NudgeKind::same_tool ? fmt::format("calls of {}", breaker.tool)
        : breaker.kind == NudgeKind::same_call
            ? fmt::format("this call of {}", breaker.tool)
            : fmt::format("these calls of {} and {}", breaker.other_tool, breaker.tool);
    const auto finding_text =
        state.told ? finding(*state.told) + last_error(state.told->error) : "";
    if (breaker.state == BreakerState::half_open) {
        return fmt::format(
            "The circuit breaker of this session lets one call of {} through and "
            "waits for its outcome; other {} are refused for up to {} s. {}",
            breaker.tried, what, left.count(), finding_text);
    }
    return fmt::format(
        "The circuit breaker of this session is open: {} are refused for another "
        "{} s. {} Do something else meanwhile, or tell the user what is in the "
        "way.",
        what, left.count(), finding_text);
}

}  // namespace knell
