#include "core/guard.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/guard_text.hpp"
#include "core/limits.hpp"
#include "core/names.hpp"

namespace knell {

namespace {

void count_up(std::uint32_t& streak) {
    if (streak < UINT32_MAX) ++streak;
}

std::uint64_t hash_of(const ToolCall& call) {
    return CallHash().add(call.tool).add(call.args ? 1U : 0U).add(call.args.value_or(0)).value();
}

GuardState::Mark mark_of(const ToolReport& report) {
    const auto call = hash_of(report.call);
    CallHash outcome;
    outcome.add(call).add(report.ok ? 1U : 0U).add(report.result ? 1U : 0U);
    outcome.add(report.result.value_or(0));
    if (!report.ok) outcome.add(report.error);
    return {call, outcome.value()};
}

void lengthen(GuardState& state, const ToolReport& report, const GuardState::Mark& mark) {
    const bool is_first = state.same_tool == 0;
    if (report.ok) {
        state.errors = 0;
    } else {
        count_up(state.errors);
    }
    const bool is_same_tool = !is_first && report.call.tool == state.tool;
    const bool is_same = is_same_tool && mark == state.last;
    // Who does not say with what a tool is called does not say that it is the same call.
    if (!is_same || !report.call.args) state.same_call = 0;
    if (report.call.args) count_up(state.same_call);
    if (!is_same_tool) state.same_tool = 0;
    count_up(state.same_tool);
    if (is_first || is_same) {
        state.cycle = 1;
    } else if (state.cycle >= 2 && mark == state.before) {
        count_up(state.cycle);
    } else {
        state.cycle = 2;
    }
}

std::uint32_t streak_of(const GuardState& state, NudgeKind kind) {
    switch (kind) {
        case NudgeKind::errors:
            return state.errors;
        case NudgeKind::same_call:
            return state.same_call;
        case NudgeKind::same_tool:
            return state.same_tool;
        case NudgeKind::cycle:
            return state.cycle;
    }
    return 0;  // untestable: for the compiler
}

std::uint32_t threshold_of(const GuardPolicy& policy, NudgeKind kind) {
    switch (kind) {
        case NudgeKind::errors:
            return policy.errors;
        case NudgeKind::same_call:
            return policy.same_call;
        case NudgeKind::same_tool:
            return policy.same_tool;
        case NudgeKind::cycle:
            return policy.cycle;
    }
    return 0;  // untestable: for the compiler
}

NudgeLevel level_at(std::uint32_t step) {
    return static_cast<NudgeLevel>(std::min<std::uint32_t>(step, nudge_level_names.size()) - 1);
}

/// Errors are told of at each multiple of the threshold, all else at each doubling.
std::optional<NudgeLevel> due(const GuardState& state, const ToolReport& report, NudgeKind kind,
                              const GuardPolicy& policy) {
    const auto streak = streak_of(state, kind);
    const auto threshold = threshold_of(policy, kind);
    if (threshold == 0 || streak == 0 || streak % threshold != 0) return std::nullopt;
    const auto times = streak / threshold;
    if (kind == NudgeKind::errors) return level_at(times);
    if (kind == NudgeKind::same_tool &&
        std::ranges::find(policy.normal_tools, report.call.tool) != policy.normal_tools.end()) {
        return std::nullopt;
    }
    if (!std::has_single_bit(times)) return std::nullopt;
    return level_at(static_cast<std::uint32_t>(std::countr_zero(times)) + 1);
}

std::optional<Stuck> find_stuck(const GuardState& state, const ToolReport& report,
                                const GuardPolicy& policy) {
    for (const auto kind :
         {NudgeKind::errors, NudgeKind::same_call, NudgeKind::same_tool, NudgeKind::cycle}) {
        const auto level = due(state, report, kind, policy);
        if (!level) continue;
        // That something failed before has nothing to do with calls that all went well.
        const bool has_error = !report.ok || kind != NudgeKind::same_call;
        return Stuck{.kind = kind,
                     .level = *level,
                     .streak = streak_of(state, kind),
                     .tool = state.tool,
                     .other_tool = kind == NudgeKind::cycle ? state.tool_before : std::string{},
                     .error = has_error ? state.error : std::string{}};
    }
    return std::nullopt;
}

bool is_over(const GuardState& state, const GuardPolicy& policy) {
    const auto threshold = threshold_of(policy, state.breaker.kind);
    return threshold == 0 || streak_of(state, state.breaker.kind) < threshold;
}

/// How the one that was let through went.
void judge_trial(GuardState& state, const ToolReport& report, const GuardPolicy& policy,
                 SteadyTime now) {
    auto& breaker = state.breaker;
    if (breaker.state != BreakerState::half_open || report.call.tool != breaker.tried) return;
    if (is_over(state, policy)) {
        breaker = {};
        return;
    }
    breaker.state = BreakerState::open;
    breaker.until = now + policy.cool_down;
    breaker.tried.clear();
}

void open_breaker(GuardState& state, const Stuck& stuck, const GuardPolicy& policy,
                  SteadyTime now) {
    state.breaker = {.state = BreakerState::open,
                     .kind = stuck.kind,
                     .until = now + policy.cool_down,
                     .tool = stuck.tool,
                     .other_tool = stuck.other_tool,
                     .call = state.last.call,
                     .other_call = state.before.call,
                     .tried = {}};
}

/// Failures are the session's, whatever the tool; all else is about what is repeated.
bool concerns(const Breaker& breaker, const ToolCall& call) {
    switch (breaker.kind) {
        case NudgeKind::errors:
            return true;
        case NudgeKind::same_tool:
            return call.tool == breaker.tool;
        case NudgeKind::same_call:
        case NudgeKind::cycle:
            break;
    }
    // Without arguments it may be that call.
    if (!call.args) {
        return call.tool == breaker.tool ||
               (breaker.kind == NudgeKind::cycle && call.tool == breaker.other_tool);
    }
    const auto hash = hash_of(call);
    return hash == breaker.call || (breaker.kind == NudgeKind::cycle && hash == breaker.other_call);
}

}  // namespace

std::optional<Stuck> note_call(GuardState& state, const ToolReport& report,
                               const GuardPolicy& policy, SteadyTime now, WallTime wall) {
    const auto mark = mark_of(report);
    lengthen(state, report, mark);
    state.before = std::exchange(state.last, mark);
    state.tool_before.swap(state.tool);
    state.tool = report.call.tool;
    if (!report.ok) {
        state.error = harmless_line(report.error, limits::tool_error_bytes_max);
    } else if (state.same_tool == 1 && state.cycle <= 2) {
        state.error.clear();  // nothing that went wrong goes on
    }
    judge_trial(state, report, policy, now);
    auto stuck = find_stuck(state, report, policy);
    if (!stuck) return stuck;
    if (stuck->level == NudgeLevel::stop_and_rethink && policy.breaker == BreakerMode::open) {
        open_breaker(state, *stuck, policy, now);
    }
    state.told = stuck;
    state.told_at = wall;
    return stuck;
}

Permission request_call(GuardState& state, const ToolCall& call, const GuardPolicy& policy,
                        SteadyTime now) {
    auto& breaker = state.breaker;
    if (breaker.state == BreakerState::closed) return {};
    // Switched off since, or over before it had cooled down.
    const bool has_cooled = now >= breaker.until;
    if (policy.breaker == BreakerMode::advise || (has_cooled && is_over(state, policy))) {
        breaker = {};
        return {};
    }
    if (!concerns(breaker, call)) return {};
    if (!has_cooled) {
        const auto left = std::chrono::ceil<std::chrono::seconds>(breaker.until - now);
        return {.allow = false, .why = refusal_text(state, left), .retry_after = left};
    }
    breaker.state = BreakerState::half_open;
    breaker.until = now + policy.cool_down;
    breaker.tried = call.tool;
    return {};
}

void GuardCounts::add(const GuardCounts& other) {
    reports += other.reports;
    errors += other.errors;
    denials += other.denials;
    for (std::size_t kind = 0; kind < nudges.size(); ++kind) {
        for (std::size_t level = 0; level < nudges.at(kind).size(); ++level) {
            nudges.at(kind).at(level) += other.nudges.at(kind).at(level);
        }
    }
}

std::uint64_t GuardCounts::of(NudgeLevel level) const {
    std::uint64_t sum = 0;
    for (const auto& by_level : nudges) sum += by_level.at(static_cast<std::size_t>(level));
    return sum;
}

std::string to_text(const Stuck& stuck) {
    auto text = fmt::format("{}\t{}\t{}", name_in(nudge_kind_names, stuck.kind),
                            name_in(nudge_level_names, stuck.level), stuck.streak);
    for (const auto* field : {&stuck.tool, &stuck.other_tool, &stuck.error}) {
        text += '\t';
        append_escaped(text, *field);
    }
    return text;
}

Stuck stuck_from_text(std::string_view text) {
    Stuck stuck;
    stuck.kind =
        find_in<NudgeKind>(nudge_kind_names, take_field(text, '\t')).value_or(NudgeKind::errors);
    stuck.level =
        find_in<NudgeLevel>(nudge_level_names, take_field(text, '\t')).value_or(NudgeLevel::advice);
    stuck.streak = number_in<std::uint32_t>(take_field(text, '\t'));
    for (auto* field : {&stuck.tool, &stuck.other_tool, &stuck.error}) {
        *field = unescaped(take_field(text, '\t'));
    }
    return stuck;
}

CallHash& CallHash::add(std::string_view bytes) {
    for (const char c : bytes) {
        sum_ = (sum_ ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    }
    return add(bytes.size());
}

CallHash& CallHash::add(std::uint64_t number) {
    // A byte at a time would be eight multiplications for one.
    sum_ = (sum_ ^ number) * 0x9e37'79b9'7f4a'7c15U;
    sum_ ^= sum_ >> 32U;
    return *this;
}

std::uint64_t CallHash::value() const {
    auto mixed = (sum_ ^ (sum_ >> 33U)) * 0xff51'afd7'ed55'8ccdU;
    return mixed ^ (mixed >> 33U);
}

}  // namespace knell
