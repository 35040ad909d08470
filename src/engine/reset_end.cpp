#include "engine/reset_end.hpp"

#include <fmt/format.h>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "engine/blockers.hpp"

namespace knell {

namespace {

constexpr std::string_view stopped_by = "the reset policy of its session";

/// Whom it concerns is in the event: a hook can post it to that chat.
void warn_of_processes(Decision& decision, Event event, const SessionId& id, const State& state) {
    auto running = running_of(id, state);
    if (running.empty()) return;
    const auto now = event.time;
    std::string ids;
    for (const auto& process : running) ids += " " + process.process_id.text();
    event.detail = fmt::format(
        "the conversation was reset, and {} of it {} on: {}; stop {} with `knell stop{}`",
        running.size() == 1 ? "a process" : fmt::format("{} processes", running.size()),
        running.size() == 1 ? "runs" : "run", describe(running, now),
        running.size() == 1 ? "it" : "them", ids);
    event.blockers = std::move(running);
    decision.events.push_back(std::move(event));
}

void stop_processes(Decision& decision, const SessionId& id, const State& state) {
    for (const auto* process : state.processes().of(id)) {
        const auto& row = process->row;
        decision.effects.emplace_back(StopTree{
            row.id, row.process, command_text(row.argv, limits::leftover_command_bytes_max),
            std::string(stopped_by)});
        if (row.stop_asked_at) continue;
        decision.changes.emplace_back(ProcessStopAsked{
            {row.number, row.id}, state.time_for(*process), std::string(stopped_by)});
    }
}

ProcessesAtEnd fate_of_processes(OnReset on_reset, const SessionId& successor) {
    switch (on_reset) {
        case OnReset::keep:
            return successor.empty() ? ProcessesAtEnd::leave : ProcessesAtEnd::hand_over;
        case OnReset::warn:
            return ProcessesAtEnd::leave;
        case OnReset::stop:
            break;
    }
    return ProcessesAtEnd::stop;
}

}  // namespace

std::string_view reset_word(std::optional<ResetKind> kind) {
    return kind ? name_in(reset_kind_names, *kind) : "suspended";
}

End end_by_policy(EndPath path, const LiveSession& live, std::optional<ResetKind> kind,
                  const State& state) {
    const auto& policy = state.policy_of(live);
    End end;
    end.reason = *row_of(path).reason;
    end.proof = row_of(path).proof;
    end.detail = reset_word(kind);
    end.ended_at = end.ended_after = end.ended_before = state.time_for(live);
    if (!kind) {
        end.evidence = fmt::format("suspended since {}{}", format_rfc3339(*live.suspended_at()),
                                   live.suspend_why().empty() ? "" : ": " + live.suspend_why());
        return end;
    }
    end.evidence = fmt::format(
        "last interaction at {}; {} of {}", format_rfc3339(state.interaction_of(live)),
        *kind == ResetKind::idle ? fmt::format("idle_minutes {}", policy.idle.count())
                                 : fmt::format("at {:02}:{:02} {}", policy.at.count() / 60,
                                               policy.at.count() % 60, policy.zone.name()),
        policy.name);
    const auto running = running_of(live.id(), state);
    end.evidence += running.empty() ? "; nothing ran in it"
                                    : "; its background processes do not hold it: " +
                                          describe(running, end.ended_at);
    return end;
}

const End& end_by_reset(Decision& decision, EndPath path, const LiveSession& live, End end,
                        const SessionId& successor, const State& state) {
    const auto on_reset = state.policy_of(live).on_reset;
    const auto now = state.time_for(live);
    settle_processes(decision, live.event(EventType::notice, now, state.owner_hosts()), live.id(),
                     on_reset, state);
    return end_session(decision, path, live, std::move(end), state.owner_hosts(),
                       state.time_for(live), state,
                       {fate_of_processes(on_reset, successor), successor});
}

void settle_processes(Decision& decision, Event notice, const SessionId& id, OnReset on_reset,
                      const State& state) {
    switch (on_reset) {
        case OnReset::keep:
            return;
        case OnReset::warn:
            return warn_of_processes(decision, std::move(notice), id, state);
        case OnReset::stop:
            return stop_processes(decision, id, state);
    }
}

void hand_processes_over(Decision& decision, const SessionId& from, const SessionId& to,
                         Generation generation, const State& state) {
    for (const auto* process : state.processes().of(from)) {
        decision.changes.emplace_back(
            ProcessHandedOver{{process->row.number, process->row.id}, to, generation});
    }
}

}  // namespace knell
