// Which cell of the transition table of background processes a step was in.

#include "world.hpp"

namespace knell::sim {

namespace {

ProcessBefore before_of(const BackgroundProcess& row) {
    if (row.stop_asked_at) return ProcessBefore::stopping;
    if (row.vouched_until) return ProcessBefore::vouched;
    if (row.stale_since) return ProcessBefore::stale;
    return row.activity.activity == ProcessActivity::working ? ProcessBefore::working
                                                             : ProcessBefore::idle;
}

ProcessBefore at(const std::map<std::string, ProcessBefore>& states, const ProcessId& id) {
    const auto found = states.find(id.text());
    return found == states.end() ? ProcessBefore::never : found->second;
}

ProcessHappening happening_of(ExitKind kind) {
    switch (kind) {
        case ExitKind::exited:
            return ProcessHappening::exited;
        case ExitKind::signaled:
            return ProcessHappening::signaled;
        case ExitKind::oom_killed:
            return ProcessHappening::oom_killed;
        case ExitKind::lost:
            return ProcessHappening::lost;
        case ExitKind::host_restart:
            return ProcessHappening::host_restarted;
        case ExitKind::never_ran:
            return ProcessHappening::never_ran;
    }
    return ProcessHappening::lost;
}

const ProcessId* named_by(const Input& input) {
    if (const auto* record = as<RecordProcess>(input)) return &record->draft.id;
    if (const auto* stop = as<StopProcess>(input)) return &stop->process_id;
    if (const auto* vouch = as<VouchProcess>(input)) return &vouch->process_id;
    if (const auto* left = as<ProcessNotStopped>(input)) return &left->process_id;
    const auto* active = as<ProcessActive>(input);
    return active == nullptr ? nullptr : &active->process_id;
}

}  // namespace

World::ProcessStates World::process_states() {
    ProcessStates states;
    for (const auto& [id, known] : ledger_.processes()) {
        const auto* running = node_.write_step().state().processes().find(ProcessId(id));
        states[id] = running == nullptr ? ProcessBefore::gone : before_of(running->row);
    }
    return states;
}

void World::count_processes(const StepFacts& facts, const ProcessStates& before) {
    std::set<ProcessId> touched;
    for (const auto& said : facts.said) {
        const auto* id = named_by(said.input);
        // What comes second meets a state that the first has made.
        if (id != nullptr && touched.insert(*id).second) count_process_word(said, before);
    }
    for (const auto& event : facts.told) count_process_told(event, before);
    for (const auto& [id, was] : before) {
        const auto* running = node_.write_step().state().processes().find(ProcessId(id));
        const bool was_vouched =
            ledger_.find(ProcessId(id))->vouched_until.value_or(std::nullopt).has_value();
        if (running == nullptr || touched.contains(ProcessId(id)) || !was_vouched) continue;
        const bool is_over = !running->row.vouched_until;
        if (is_over && was == ProcessBefore::vouched) {
            coverage_.count(ProcessHappening::vouch_over, was);
        }
        if (is_over && was == ProcessBefore::stopping) {
            coverage_.count(ProcessHappening::vouch_over, was);
        }
    }
}

void World::count_process_word(const Said& said, const ProcessStates& before) {
    const auto was = at(before, *named_by(said.input));
    if (!said.reply && said.reply.error().code == ErrorCode::storage) {
        return coverage_.count(ProcessHappening::store_refused, was);
    }
    if (const auto* record = as<RecordProcess>(said.input)) {
        const bool is_new = was == ProcessBefore::never;
        // One that came on record is counted where it is told.
        if (record->draft.origin == ProcessOrigin::registered && !is_new) {
            coverage_.count(ProcessHappening::registered, was);
        }
    } else if (as<StopProcess>(said.input) != nullptr) {
        coverage_.count(ProcessHappening::stop_asked, was);
    } else if (const auto* vouch = as<VouchProcess>(said.input)) {
        coverage_.count(
            vouch->until ? ProcessHappening::vouched : ProcessHappening::vouch_taken_back, was);
    } else if (const auto* active = as<ProcessActive>(said.input)) {
        if (was == ProcessBefore::never || was == ProcessBefore::gone) return;
        const bool works = active->facts.activity == ProcessActivity::working;
        if (works && was == ProcessBefore::working) return;
        coverage_.count(works            ? ProcessHappening::works
                        : !active->stale ? ProcessHappening::idles
                                         : ProcessHappening::goes_stale,
                        was);
    }
}

void World::count_process_told(const Event& event, const ProcessStates& before) {
    if (event.end) {
        for (const auto& [id, was] : before) {
            const auto& known = *ledger_.find(ProcessId(id));
            if (was == ProcessBefore::gone || known.session != event.session_id) continue;
            coverage_.count(ProcessHappening::session_ended, was);
        }
    }
    if (!event.process) return;
    const auto was = at(before, event.process->id);
    if (event.type == EventType::process_start) {
        const auto origin = event.process->origin;
        coverage_.count(origin == ProcessOrigin::started      ? ProcessHappening::started
                        : origin == ProcessOrigin::registered ? ProcessHappening::registered
                                                              : ProcessHappening::left_behind,
                        was);
    } else if (event.process->exit && was != ProcessBefore::never) {
        coverage_.count(happening_of(event.process->exit->kind), was);
    }
}

/// What an earlier daemon watched, and this one does.
void World::count_adopted(const ProcessStates& before) {
    for (const auto& [id, was] : before) {
        const bool runs = ledger_.find(ProcessId(id))->running;
        if (runs && was != ProcessBefore::gone) coverage_.count(ProcessHappening::adopted, was);
    }
}

}  // namespace knell::sim
