// What is said of calls of an agent's tools, and whether one may be made.

#include <unordered_map>

#include "engine/decide_on.hpp"
#include "engine/refusals.hpp"

namespace knell {

namespace {

/// Takes reports in, of one session or of many, and gathers what follows.
class ReportTaker {
  public:
    explicit ReportTaker(const State& state) : state_(state) {}

    void take(const SessionId& id, const LiveSession& live, const ToolReport& report) {
        auto& guard = guard_of(id, live);
        ++decision_.tools.reports;
        if (!report.ok) ++decision_.tools.errors;
        ++reply_.recorded;
        const auto now = state_.time_for(live);
        // A breaker cools down by the boot's clock: that of leases stands still while nobody looks.
        auto stuck = note_call(guard, report, state_.guard_policy(), state_.heard().boot, now);
        if (!stuck) return;
        decision_.tools.add(*stuck);
        auto event = live.event(EventType::agent_stuck, now, state_.owner_hosts());
        event.detail = nudge_text(*stuck);
        reply_.nudges.push_back({id, *stuck});
        event.stuck = std::move(stuck);
        decision_.events.push_back(std::move(event));
    }

    ToolsReportedReply& reply() { return reply_; }

    Decided<ToolsReportedReply> finish() {
        decision_.reply = std::move(reply_);
        return std::move(decision_);
    }

  private:
    /// As it is behind the reports that were taken before.  The first of a session is a sign of
    /// life: whoever reports is at work.
    GuardState& guard_of(const SessionId& id, const LiveSession& live) {
        const auto [place, is_new] = places_.emplace(live.ordinal(), decision_.guarded.size());
        if (is_new) {
            const auto* before = state_.guards().find(live.ordinal());
            decision_.guarded.push_back({live.ordinal(), before ? *before : GuardState{}});
            clear_uncertainty(decision_, id, live);
            keep_first_sign(decision_, id, live, state_);
            decision_.renewals.push_back(id);
        }
        return decision_.guarded[place->second].state;
    }

    const State& state_;
    std::unordered_map<Ordinal, std::size_t> places_;
    Decided<ToolsReportedReply> decision_;
    ToolsReportedReply reply_;
};

}  // namespace

Decided<ReportTools::Reply> decide_on(ReportTools&& reports, const Session* past,
                                      const State& state) {
    ReportTaker taker(state);
    if (!reports.session_id.empty()) {
        const auto found = writable(reports.session_id, reports.generation, past, state);
        if (!found) return refuse(found.error());
        for (const auto& one : reports.reports) {
            taker.take(reports.session_id, **found, one.report);
        }
        return taker.finish();
    }
    for (const auto& one : reports.reports) {
        // Each by itself, as heartbeats: one session that has ended is not to cost the others.
        const auto found = writable(one.session_id, one.generation, nullptr, state);
        if (found) {
            taker.take(one.session_id, **found, one.report);
        } else if (found.error().code == ErrorCode::fenced ||
                   found.error().code == ErrorCode::blocked) {
            taker.reply().fenced.push_back(one.session_id);
        } else {
            taker.reply().ended.push_back(one.session_id);
        }
    }
    return taker.finish();
}

Decided<CheckTool::Reply> decide_on(CheckTool&& check, const Session* past, const State& state) {
    const auto found = writable(check.session_id, check.generation, past, state);
    if (!found) return refuse(found.error());
    const auto& live = **found;
    Decided<CheckTool::Reply> decision;
    clear_uncertainty(decision, check.session_id, live);
    keep_first_sign(decision, check.session_id, live, state);
    decision.renewals.push_back(check.session_id);
    const auto* before = state.guards().find(live.ordinal());
    if (before == nullptr) {
        decision.reply = ToolCheckedReply{};
        return decision;
    }
    auto guard = *before;
    auto permission = request_call(guard, check.call, state.guard_policy(), state.heard().boot);
    if (!permission.allow) ++decision.tools.denials;
    if (guard != *before) decision.guarded.push_back({live.ordinal(), std::move(guard)});
    decision.reply = ToolCheckedReply{std::move(permission)};
    return decision;
}

}  // namespace knell
