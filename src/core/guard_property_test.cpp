// The guard against a model that keeps every call there was and counts from the end each time.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/guard.hpp"
#include "testing/guard_model.hpp"

namespace knell {
namespace {

GuardPolicy any_policy() {
    GuardPolicy policy;
    policy.errors = *rc::gen::inRange<std::uint32_t>(0, 4);
    policy.same_call = *rc::gen::inRange<std::uint32_t>(0, 4);
    policy.same_tool = *rc::gen::inRange<std::uint32_t>(0, 6);
    policy.cycle = *rc::gen::inRange<std::uint32_t>(0, 6);
    policy.breaker = *rc::gen::arbitrary<bool>() ? BreakerMode::open : BreakerMode::advise;
    if (*rc::gen::arbitrary<bool>()) policy.normal_tools = {"A"};
    return policy;
}

/// Few kinds of calls, so that much is repeated.
ToolReport any_report() {
    ToolReport report;
    report.call.tool = *rc::gen::element<std::string>("A", "B", "C");
    if (*rc::gen::inRange(0, 4) > 0) report.call.args = *rc::gen::inRange(0, 2);
    report.ok = *rc::gen::inRange(0, 3) > 0;
    if (!report.ok) report.error = *rc::gen::element<std::string>("no", "never");
    if (*rc::gen::inRange(0, 3) > 0) report.result = *rc::gen::inRange(0, 2);
    return report;
}

/// Runs of the same, pairs by turns, and anything.
std::vector<ToolReport> any_calls() {
    std::vector<ToolReport> calls;
    for (auto parts = *rc::gen::inRange(1, 8); parts > 0; --parts) {
        const auto first = any_report();
        const auto second = any_report();
        const auto how = *rc::gen::inRange(0, 3);
        for (auto left = *rc::gen::inRange(1, 20); left > 0; --left) {
            if (how == 2) {
                calls.push_back(any_report());
            } else {
                calls.push_back(how == 1 && left % 2 == 0 ? second : first);
            }
        }
    }
    return calls;
}

RC_GTEST_PROP(GuardProperty, TellsWhatTheWholeHistorySays, ()) {
    testing::GuardModel model{.policy = any_policy(), .history = {}};
    GuardState state;
    for (const auto& report : any_calls()) {
        const auto expected = model.take(report);
        const auto stuck = note_call(state, report, model.policy, SteadyTime{}, WallTime{});
        RC_ASSERT(stuck.has_value() == expected.has_value());
        if (stuck) {
            RC_ASSERT(testing::GuardModel::told(*stuck) == *expected);
            RC_ASSERT(stuck->tool == report.call.tool);
        }
        RC_ASSERT(state.errors == model.streak(NudgeKind::errors));
        RC_ASSERT(state.same_call == model.streak(NudgeKind::same_call));
        RC_ASSERT(state.same_tool == model.streak(NudgeKind::same_tool));
        RC_ASSERT(state.cycle == model.streak(NudgeKind::cycle));
    }
}

/// A breaker that counts nothing itself: told of each third level, and asked at any time.
RC_GTEST_PROP(GuardProperty, ABreakerRefusesWhileItCoolsDownAndThenLetsOneThrough, ()) {
    GuardPolicy policy{.same_call = 0, .same_tool = 0, .cycle = 0, .normal_tools = {}};
    policy.breaker = BreakerMode::open;
    GuardState state;
    SteadyTime now{};
    std::optional<SteadyTime> closed_until;  // refused before then
    bool is_tried = false;
    std::uint32_t errors = 0;
    for (auto left = *rc::gen::inRange(1, 200); left > 0; --left) {
        now += std::chrono::seconds{*rc::gen::inRange(0, 30)};
        if (*rc::gen::inRange(0, 3) == 0) {
            const bool allowed = request_call(state, {"A"}, policy, now).allow;
            bool expected = !closed_until.has_value();
            if (closed_until && now >= *closed_until) {
                expected = true;
                closed_until = now + policy.cool_down;
                is_tried = true;
                if (errors < policy.errors) closed_until.reset(), is_tried = false;
            }
            RC_ASSERT(allowed == expected);
            continue;
        }
        const bool ok = *rc::gen::inRange(0, 6) == 0;
        note_call(state, {.call = {"A"}, .ok = ok}, policy, now, WallTime{});
        errors = ok ? 0 : errors + 1;
        if (is_tried) {
            is_tried = false;
            closed_until = now + policy.cool_down;
            if (errors < policy.errors) closed_until.reset();
        }
        if (errors >= 3 * policy.errors && errors % policy.errors == 0) {
            closed_until = now + policy.cool_down;
        }
    }
}

}  // namespace
}  // namespace knell
