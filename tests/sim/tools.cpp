#include "tools.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ledger.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

/// When exactly the daemon looked at its clock nobody outside knows.
constexpr auto clock_slack = 1s;

/// Whether what was known of its calls went with one of these generations: a session that ended is
/// another when it is opened again, one that was taken over is not.
bool has_ended(const SessionId& id, Generation from, Generation until, const Ledger& ledger,
               const StepFacts& step) {
    const auto is_end = [&](const Event& event) {
        return event.end && event.session_id == id && event.generation >= from &&
               event.generation < until && event.end->reason != Reason::superseded;
    };
    return std::ranges::any_of(ledger.log(), is_end) || std::ranges::any_of(step.told, is_end);
}

bool is_call(const ToolCall& one, const ToolCall& other) {
    // Without arguments it may be that call.
    return one.tool == other.tool && (!one.args || one.args == other.args);
}

}  // namespace

GuardPolicy guard_policy() {
    GuardPolicy policy;
    policy.errors = 2;
    policy.same_call = 2;
    policy.same_tool = 3;
    policy.cycle = 4;
    policy.normal_tools = {"shell"};
    policy.breaker = BreakerMode::open;
    policy.cool_down = 20s;
    return policy;
}

ToolTruth::Calls& ToolTruth::calls_of(const SessionId& id, Generation generation,
                                      const Ledger& ledger, const StepFacts& step) {
    auto& calls = sessions_[id.text()];
    calls.model.policy = guard_policy();
    const auto before = std::exchange(calls.generation, generation);
    if (before != 0 && before != generation && has_ended(id, before, generation, ledger, step)) {
        calls.model.history.clear();
        calls.breaker.reset();
        calls.is_unsure = false;
    }
    return calls;
}

void ToolTruth::report(Calls& calls, const ToolReport& report, Host::Duration at) {
    auto& model = calls.model;
    if (calls.breaker && calls.breaker->tried == report.call.tool) {
        calls.breaker->tried.clear();
        calls.breaker->until = at + guard_policy().cool_down;
        const auto kind = calls.breaker->kind;
        if (model.streak(kind) < model.threshold(kind)) calls.breaker.reset();
    }
}

std::string ToolTruth::judge_nudges(const Said& said, const Ledger& ledger, const StepFacts& step) {
    const auto& reports = *as<ReportTools>(said.input);
    const auto& reply = std::get<ToolsReportedReply>(*said.reply);
    const auto was_refused = [&reply](const SessionId& id) {
        return std::ranges::find(reply.fenced, id) != reply.fenced.end() ||
               std::ranges::find(reply.ended, id) != reply.ended.end();
    };
    std::vector<Nudge> wanted;
    for (const auto& one : reports.reports) {
        const bool is_one = !reports.session_id.empty();
        const auto& id = is_one ? reports.session_id : one.session_id;
        if (!is_one && was_refused(id)) continue;
        auto& calls = calls_of(id, is_one ? reports.generation : one.generation, ledger, step);
        const auto told = calls.model.take(one.report);
        report(calls, one.report, said.arrived_at);
        if (!told) continue;
        wanted.push_back({id, *told});
        if (told->level < 3) continue;
        const auto& history = calls.model.history;
        const auto& before = history.at(history.size() - (history.size() > 1 ? 2 : 1));
        calls.breaker = Breaker{.kind = told->kind,
                                .call = one.report.call,
                                .other = before.call,
                                .until = said.arrived_at + guard_policy().cool_down,
                                .tried = {}};
        calls.is_unsure = false;
    }
    std::vector<Nudge> given;
    for (const auto& nudge : reply.nudges) {
        given.push_back({nudge.session_id, testing::GuardModel::told(nudge.stuck)});
    }
    due_.insert(due_.end(), wanted.begin(), wanted.end());
    if (given == wanted) return {};
    return fmt::format("{} reports had to be answered with {} nudges, and were with {}",
                       reports.reports.size(), wanted.size(), given.size());
}

std::string ToolTruth::judge_check(const Said& said, const Ledger& ledger, const StepFacts& step) {
    const auto& check = *as<CheckTool>(said.input);
    const bool is_allowed = std::get<ToolCheckedReply>(*said.reply).permission.allow;
    auto& calls = calls_of(check.session_id, check.generation, ledger, step);
    if (calls.is_unsure) return {};
    if (!calls.breaker) {
        return is_allowed ? "" : "a call was refused, and no breaker is open";
    }
    auto& breaker = *calls.breaker;
    const auto streak = calls.model.streak(breaker.kind);
    const bool is_over = streak < calls.model.threshold(breaker.kind);
    const bool has_cooled = said.arrived_at >= breaker.until;
    const bool is_near = std::chrono::abs(said.arrived_at - breaker.until) < clock_slack;
    const bool concerns =
        breaker.kind == NudgeKind::errors ||
        (breaker.kind == NudgeKind::same_tool && check.call.tool == breaker.call.tool) ||
        (breaker.kind != NudgeKind::same_tool && is_call(check.call, breaker.call)) ||
        (breaker.kind == NudgeKind::cycle && is_call(check.call, breaker.other));
    if (is_near && (concerns || is_over)) {
        calls.is_unsure = true;
        return {};
    }
    if (has_cooled && is_over) {
        calls.breaker.reset();
    } else if (concerns && !has_cooled) {
        return is_allowed ? fmt::format(
                                "a call was let through {} ms before the breaker had "
                                "cooled down",
                                (breaker.until - said.arrived_at) / 1ms)
                          : "";
    } else if (concerns) {
        breaker.tried = check.call.tool;
        breaker.until = said.arrived_at + guard_policy().cool_down;
    }
    return is_allowed ? "" : "a call was refused that no breaker is for, or that has cooled down";
}

std::string ToolTruth::take(const Said& said, const Ledger& ledger, const StepFacts& step) {
    if (!said.reply) return {};
    if (as<ReportTools>(said.input) != nullptr) return judge_nudges(said, ledger, step);
    if (as<CheckTool>(said.input) != nullptr) return judge_check(said, ledger, step);
    return {};
}

}  // namespace knell::sim
