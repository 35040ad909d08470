#include "engine/reset_end.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/route_rules.hpp"
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

void stop_processes(Decision& decision, const SessionId& id, const std::vector<ProcessId>& spared,
                    const State& state) {
    for (const auto* process : state.processes().of(id)) {
        const auto& row = process->row;
        if (std::ranges::find(spared, row.id) != spared.end()) continue;
        decision.effects.emplace_back(StopTree{
            row.id, row.process, command_text(row.argv, limits::leftover_command_bytes_max),
            std::string(stopped_by)});
        if (row.stop_asked_at) continue;
        decision.changes.emplace_back(ProcessStopAsked{
            {row.number, row.id}, state.time_for(*process), std::string(stopped_by)});
    }
}

/// What holds a reset, and so is not stopped by one that nothing holds any more.
std::vector<ProcessId> spared_by(const ResetPolicy& policy, const SessionId& id,
                                 const State& state) {
    std::vector<ProcessId> spared;
    for (const auto& blocker : blockers_by_policy(id, policy, state)) {
        spared.push_back(blocker.process_id);
    }
    return spared;
}

/// What is stopped of one that has ended, and what runs on: no other event says so.
void tell_stopped(Decision& decision, Event event, const SessionId& id,
                  const std::vector<ProcessId>& spared, const State& state) {
    auto stopped = running_of(id, state);
    const auto is_spared = [&](const Blocker& one) {
        return std::ranges::find(spared, one.process_id) != spared.end();
    };
    std::vector<Blocker> left;
    std::ranges::copy_if(stopped, std::back_inserter(left), is_spared);
    std::erase_if(stopped, is_spared);
    if (stopped.empty() && left.empty()) return;
    const auto now = event.time;
    event.detail = "the conversation was reset after its session had ended";
    if (!stopped.empty()) event.detail += "; stopped: " + describe(stopped, now);
    if (!left.empty()) {
        std::string ids;
        for (const auto& process : left) ids += " " + process.process_id.text();
        event.detail += fmt::format(
            "; left running, as it works or is vouched for: {}; stop with "
            "`knell stop{}`",
            describe(left, now), ids);
    }
    event.blockers = std::move(left);
    decision.events.push_back(std::move(event));
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
    const auto& policy = state.policy_of(live);
    const auto now = state.time_for(live);
    Aftermath aftermath{fate_of_processes(policy.on_reset, successor), successor};
    // Nobody asked for that end: what works in it is not to go with it.
    if (!is_reset(end.reason)) aftermath.spared = spared_by(policy, live.id(), state);
    if (policy.on_reset == OnReset::warn) {
        warn_of_processes(decision, live.event(EventType::notice, now, state.owner_hosts()),
                          live.id(), state);
    } else if (policy.on_reset == OnReset::stop) {
        stop_processes(decision, live.id(), aftermath.spared, state);
    }
    return end_session(decision, path, live, std::move(end), state.owner_hosts(), now, state,
                       std::move(aftermath));
}

void settle_processes_of_ended(Decision& decision, Event notice, const SessionId& id,
                               const ResetPolicy& policy, const State& state) {
    switch (policy.on_reset) {
        case OnReset::keep:
            return;
        case OnReset::warn:
            return warn_of_processes(decision, std::move(notice), id, state);
        case OnReset::stop:
            break;
    }
    const auto spared = spared_by(policy, id, state);
    tell_stopped(decision, std::move(notice), id, spared, state);
    stop_processes(decision, id, spared, state);
}

void hand_processes_over(Decision& decision, const SessionId& from, const SessionId& to,
                         Generation generation, const State& state) {
    for (const auto* process : state.processes().of(from)) {
        decision.changes.emplace_back(
            ProcessHandedOver{{process->row.number, process->row.id}, to, generation});
    }
}

}  // namespace knell
