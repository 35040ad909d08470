#include "engine/background.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "engine/end_events.hpp"

namespace knell {

namespace {

constexpr std::string_view found_on_record = "background process";

std::int64_t opened_in(const Decision& decision) {
    return std::ranges::count_if(decision.changes, [](const Change& change) {
        return std::holds_alternative<ProcessOpened>(change);
    });
}

void set_background(Decision& decision, const SessionRef& session, bool is_hosted,
                    std::optional<WallTime> since, WallTime now, const State& state) {
    BackgroundSet change{session, since, now, std::nullopt};
    if (is_hosted) change.lease_from = state.now().steady;
    decision.changes.emplace_back(std::move(change));
}

Leftover named(const BackgroundProcess& process) {
    Leftover leftover;
    leftover.process = process.process;
    leftover.found_by = found_on_record;
    leftover.command = command_text(process.argv, limits::leftover_command_bytes_max);
    leftover.fate = Fate::left;
    leftover.process_id = process.id;
    return leftover;
}

}  // namespace

void follow_background(Decision& decision, const LiveSession& live, std::size_t counting,
                       const State& state) {
    const bool is_kept = counting > 0;
    if (is_kept == live.background_since().has_value()) return;
    const auto now = state.time_for(live);
    set_background(decision, {live.id(), live.ordinal(), live.generation()}, live.is_hosted(),
                   is_kept ? std::optional(now) : std::nullopt, now, state);
}

bool open_background(Decision& decision, const SessionRef& session, const Owner& owner,
                     std::optional<WallTime> since, WallTime now, const State& state) {
    auto counting = state.processes().counting_of(session.id);
    // What the generation before has left behind is work until somebody looks.
    counting += static_cast<std::size_t>(opened_in(decision));
    if (counting == 0) return false;
    set_background(decision, session, owner.kind == OwnerKind::hosted, since.value_or(now), now,
                   state);
    return true;
}

Event process_event(EventType type, const BackgroundProcess& process, const Session* past,
                    const State& state) {
    Event event;
    if (const auto* live = state.find(process.session_id)) {
        event = live->event(type, state.time_for(*live), state.owner_hosts());
    } else if (past != nullptr) {
        // The clock may have been set back since it ended.
        const auto last = past->end ? past->end->ended_before : past->last_activity_at;
        event = event_about(*past, type, std::max(state.now().wall, last));
        event.after_end = past->end.has_value();
    } else {
        event = node_event(type, {}, state.now().wall);
        event.session_id = process.session_id;
        event.generation = process.generation;
    }
    event.process = process;
    return event;
}

const BackgroundProcess& put_on_record(Decision& decision, BackgroundProcess process, Event event,
                                       const State& state) {
    process.number = state.heads().process_number + opened_in(decision) + 1;
    event.process = process;
    decision.events.push_back(std::move(event));
    decision.effects.emplace_back(WatchProcess{process});
    if (process.origin == ProcessOrigin::started) {
        decision.effects.emplace_back(OpenGate{process.id});
    }
    decision.changes.emplace_back(ProcessOpened{std::move(process)});
    return std::get<ProcessOpened>(decision.changes.back()).process;
}

void name_processes(std::vector<Leftover>& leftovers, const SessionId& session_id,
                    const State& state) {
    for (auto& leftover : leftovers) {
        const auto* process = state.processes().find(leftover.process);
        if (process == nullptr) continue;
        leftover.process_id = process->row.id;
        const bool is_anothers =
            process->row.session_id != session_id && state.find(process->row.session_id) != nullptr;
        if (is_anothers && leftover.fate == Fate::left) leftover.fate = Fate::shared;
    }
    for (const auto* process : state.processes().of(session_id)) {
        if (leftovers.size() >= limits::leftovers_max) return;
        const auto& identity = process->row.process;
        if (std::ranges::find(leftovers, identity, &Leftover::process) != leftovers.end()) continue;
        leftovers.push_back(named(process->row));
    }
}

void record_leftovers(Decision& decision, std::vector<Leftover>& leftovers, const Event& about,
                      const State& state) {
    const auto& running = state.processes();
    for (auto& leftover : leftovers) {
        if (leftover.fate != Fate::left && leftover.fate != Fate::shared) continue;
        if (!leftover.process_id.empty()) continue;
        if (const auto* process = running.find(leftover.process)) {
            leftover.process_id = process->row.id;
            continue;
        }
        const auto opened = static_cast<std::size_t>(opened_in(decision));
        if (running.size() + opened >= state.processes_max()) return;
        BackgroundProcess process;
        process.id = process_id_of(leftover.process);
        process.session_id = about.session_id;
        process.generation = about.generation;
        process.origin = ProcessOrigin::leftover;
        process.process = leftover.process;
        process.argv = {leftover.command};
        // It was started by a command of that session, nobody saw when.
        process.started_at = about.started_at;
        process.activity = {ProcessActivity::working, about.time,
                            "its session left it running; nobody has looked at it yet"};
        auto event = about;
        event.type = EventType::process_start;
        leftover.process_id =
            put_on_record(decision, std::move(process), std::move(event), state).id;
    }
}

}  // namespace knell
