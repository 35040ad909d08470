#include <algorithm>

#include "engine/background.hpp"
#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"

namespace knell {

namespace {

/// The sessions of an owner that are commands, so that what they left behind can be looked for.
std::vector<FindLeftovers::Command> commands_of(const OwnerEntry& owner, const State& state) {
    std::vector<FindLeftovers::Command> commands;
    for (auto slot = owner.first; slot != LiveTable::none && commands.size() < owner.commands;
         slot = state.at(slot).owner_link().next) {
        const auto& live = state.at(slot);
        if (live.leftovers() == LeftoversPolicy::none) continue;
        commands.push_back({live.id(), live.generation(), live.reaper()});
    }
    return commands;
}

/// Marks or clears the doubt about every session of a process.
Decided<NotedReply> mark_uncertain(const ProcessIdentity& process, bool unknown,
                                   const std::string& why, const State& state) {
    const auto number = state.owners().find(process);
    if (number == OwnerTable::none) return reply_with(NotedReply{0});
    const auto& owner = state.owners().at(number);
    auto decision = reply_with(NotedReply{owner.sessions});
    decision.looked = {process, unknown};
    for (auto slot = owner.first; slot != LiveTable::none;) {
        const auto& live = state.at(slot);
        slot = live.owner_link().next;
        if (live.unknown_since().has_value() == unknown) continue;
        const auto id = live.id();
        const auto now = state.time_for(live);
        decision.changes.emplace_back(LivenessMarked{{id, live.ordinal(), live.generation()},
                                                     unknown ? std::optional(now) : std::nullopt,
                                                     live.stalled_since()});
        if (!unknown) continue;
        auto event = live.event(EventType::session_unknown, now, state.owner_hosts());
        event.detail = why;
        decision.events.push_back(std::move(event));
    }
    return decision;
}

}  // namespace

Decided<NotedReply> decide_on(OwnerGone&& gone, const Session*, const State& state) {
    const auto number = state.owners().find(gone.process);
    if (number == OwnerTable::none) return reply_with(NotedReply{0});
    const auto& owner = state.owners().at(number);
    auto decision = reply_with(NotedReply{owner.sessions});
    if (owner.gone) return decision;
    // With the boot everything else that ran in it is over, too.
    const bool may_leave = gone.departure.kind != Departure::Kind::host_restart;
    if (owner.commands > 0 && !gone.searched && may_leave) {
        decision.effects.emplace_back(
            FindLeftovers{gone.process, gone.departure, commands_of(owner, state)});
        decision.leaving = gone;
        return decision;
    }
    decision.gone = std::move(gone);
    return decision;
}

Decided<NotedReply> decide_on(SettleLeftovers&& settle, const Session* past, const State& state) {
    auto decision = reply_with(NotedReply{0});
    // Whatever could not be stopped comes on record as a background process of the session.
    if (const auto* live = state.find(settle.session_id)) {
        // Opened again since: of the end before nobody asks any more.
        const auto about =
            live->event(EventType::notice, state.time_for(*live), state.owner_hosts());
        record_leftovers(decision, settle.leftovers, about, state);
        const auto counting =
            state.processes().counting_of(settle.session_id) + decision.changes.size();
        follow_background(decision, *live, counting, state);
        return decision;
    }
    if (past == nullptr || !past->end) return decision;
    auto about =
        event_about(*past, EventType::notice, std::max(state.now().wall, past->end->ended_before));
    about.after_end = true;
    auto leftovers = past->end->leftovers;
    if (past->generation != settle.generation) {
        record_leftovers(decision, settle.leftovers, about, state);
        return decision;
    }
    for (auto& leftover : leftovers) {
        const auto settled =
            std::ranges::find(settle.leftovers, leftover.process, &Leftover::process);
        const bool is_open = leftover.fate == Fate::stopping;
        if (is_open && settled != settle.leftovers.end()) leftover.fate = settled->fate;
    }
    if (leftovers == past->end->leftovers) return decision;
    record_leftovers(decision, leftovers, about, state);
    decision.changes.emplace_back(LeftoversSettled{
        {std::move(settle.session_id), past->ordinal, past->generation}, std::move(leftovers)});
    decision.reply = NotedReply{1};
    return decision;
}

Decided<NotedReply> decide_on(OwnerUnknown&& unknown, const Session*, const State& state) {
    return mark_uncertain(unknown.process, /*unknown=*/true, unknown.why, state);
}

Decided<NotedReply> decide_on(OwnerAlive&& alive, const Session*, const State& state) {
    return mark_uncertain(alive.process, /*unknown=*/false, {}, state);
}

}  // namespace knell
