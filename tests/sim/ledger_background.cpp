// What everybody outside may know of background processes.

#include <algorithm>

#include "ledger.hpp"

namespace knell::sim {

const KnownProcess* Ledger::find(const ProcessId& id) const {
    const auto found = processes_.find(id.text());
    return found == processes_.end() ? nullptr : &found->second;
}

const std::string* Ledger::running_as(const ProcessIdentity& process) const {
    for (const auto& [id, known] : processes_) {
        if (known.running && known.process == process) return &id;
    }
    return nullptr;
}

std::size_t Ledger::running_of(const SessionId& id) const {
    return static_cast<std::size_t>(std::ranges::count_if(processes_, [&](const auto& one) {
        return one.second.running && one.second.session == id;
    }));
}

std::size_t Ledger::running() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(processes_, [](const auto& one) { return one.second.running; }));
}

Host::Duration Ledger::held_at(const SessionId& id) const {
    const auto found = held_at_.find(id.text());
    return found == held_at_.end() ? Host::Duration{0} : found->second;
}

void Ledger::note_clock(WallTime wall) {
    for (auto& [id, known] : processes_) {
        const auto until = known.vouched_until.value_or(std::nullopt);
        if (until && *until <= wall) known.may_be_over = true;
    }
}

void Ledger::note_process_event(const Event& event, const StepFacts& step) {
    if (!event.process) return;
    auto& known = processes_[event.process->id.text()];
    if (event.type == EventType::process_start) {
        known.session = event.process->session_id;
        known.process = event.process->process;
        known.origin = event.process->origin;
        known.running = true;
        known.opened_at = std::ranges::min(step.decided_at);
        for (const auto decided_at : step.decided_at) {
            known.opened_ahead.push_back(event.time - Host::shown_at(decided_at, {}));
        }
        known.opened_wall = event.process->started_at;
        known.activity = event.process->activity.activity;
        known.vouched_until = event.process->vouched_until;
    } else if (event.type == EventType::process_exit) {
        known.running = false;
    } else if (event.type == EventType::process_stale) {
        known.stale = true;
    }
}

/// What a reset, a branch or a compression does to the processes of its session.
void Ledger::note_handed_over(const Event& event, const StepFacts& step) {
    const auto* one = conversations.find(event.session_id);
    if (event.end && one != nullptr) {
        for (const auto& policy : conversations.policies_of(*one, step.by_former)) {
            if (policy.on_reset != OnReset::stop || !is_reset_end(*event.end)) continue;
            for (const auto& leftover : event.end->leftovers) {
                if (leftover.fate == Fate::stopping)
                    stop_intents_.insert(leftover.process_id.text());
            }
        }
    }
    if (event.type != EventType::session_start || event.generation > 1) return;
    if (event.parent_id.empty()) return;
    const auto* parent = conversations.find(event.parent_id);
    const auto* command = conversations.asked_for(event.session_id);
    const auto* branch = command == nullptr ? nullptr : std::get_if<Branch>(command);
    if (parent == nullptr || (branch != nullptr && branch->keep_open)) return;
    if (event.relation == Relation::reset) {
        const auto policies = conversations.policies_of(*parent, step.by_former);
        const bool may_stop = std::ranges::any_of(
            policies, [](const ResetPolicy& one) { return one.on_reset == OnReset::stop; });
        for (const auto& [id, known] : processes_) {
            if (may_stop && known.session == event.parent_id) stop_intents_.insert(id);
        }
        const bool keeps = std::ranges::all_of(
            policies, [](const ResetPolicy& one) { return one.on_reset == OnReset::keep; });
        if (!keeps) return;
    }
    for (auto& [id, known] : processes_) {
        if (known.running && known.session == event.parent_id) known.session = event.session_id;
    }
}

bool is_reset_end(const End& end) {
    return end.reason == Reason::manual_reset || end.reason == Reason::auto_reset ||
           end.reason == Reason::idle_expiry || end.reason == Reason::daily_reset;
}

void Ledger::note_process_reply(const Said& said) {
    if (const auto* gone = as<ProcessGone>(said.input)) {
        for (auto& [id, known] : processes_) {
            if (known.process == gone->process) known.words.push_back(*gone);
        }
    }
    if (const auto* active = as<ProcessActive>(said.input)) {
        const auto found = processes_.find(active->process_id.text());
        if (found == processes_.end()) return;
        // What was refused the daemon says again to itself.
        if (said.reply) found->second.activity = active->facts.activity;
        if (!said.reply) found->second.activity.reset();
    }
    if (!said.reply) return;
    const auto* reply = std::get_if<ProcessReply>(&*said.reply);
    if (reply == nullptr) return;
    const auto found = processes_.find(reply->process.id.text());
    if (found == processes_.end()) return;
    if (as<VouchProcess>(said.input) == nullptr) return;
    found->second.vouched_until = reply->process.vouched_until;
    found->second.may_be_over = false;
}

}  // namespace knell::sim
