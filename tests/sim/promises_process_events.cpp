// About what is told of background processes, and what their sessions' ends say of them.

#include <algorithm>

#include <fmt/format.h>

#include "background.hpp"
#include "promises.hpp"

namespace knell::sim {

namespace {

ExitKind kind_of(const Departure& departure) {
    switch (departure.kind) {
        case Departure::Kind::exited:
            return ExitKind::exited;
        case Departure::Kind::signaled:
            return ExitKind::signaled;
        case Departure::Kind::oom_killed:
            return ExitKind::oom_killed;
        case Departure::Kind::host_restart:
            return ExitKind::host_restart;
        case Departure::Kind::lost:
        case Departure::Kind::stopped:
            return ExitKind::lost;
    }
    return ExitKind::lost;
}

std::string wrong_exit(const BackgroundProcess& process, const Scene& scene) {
    const auto& exit = *process.exit;
    if (exit.evidence.empty()) return "no evidence";
    const auto found =
        std::ranges::find(scene.host.processes(), process.process, &Host::Process::identity);
    if (found == scene.host.processes().end()) return "it was never there";
    if (found->alive) return fmt::format("process {} lives", process.process.pid);
    const bool other_boot = found->identity.boot_id != scene.host.boot_id();
    if (exit.kind == ExitKind::host_restart) return other_boot ? "" : "the host has not restarted";
    if (exit.kind == ExitKind::never_ran) {
        return found->executed == 0 && found->gate != Host::Gate::none ? "" : "it did run";
    }
    const auto* known = scene.ledger.find(process.id);
    if (known != nullptr && !known->words.empty()) {
        const bool is_told = std::ranges::any_of(known->words, [&](const ProcessGone& word) {
            return word.never_ran.empty() && kind_of(word.departure) == exit.kind &&
                   word.departure.number == exit.number;
        });
        if (!is_told) return "it was seen to go in another way";
    }
    if (exit.kind == ExitKind::lost) return {};
    if (kind_of(found->went) == exit.kind && found->went.number == exit.number) return {};
    return "that is not how it went";
}

}  // namespace

std::string wrong_process_event(const Scene& scene) {
    std::map<std::string, bool> running;  // as the step goes on
    for (const auto& [id, known] : scene.ledger.processes()) running[id] = known.running;
    for (const auto& event : scene.step.told) {
        const bool is_about_one = event.type == EventType::process_start ||
                                  event.type == EventType::process_exit ||
                                  event.type == EventType::process_stale;
        if (event.process.has_value() != is_about_one) {
            return fmt::format("event {} is about a process, or not", event.seq);
        }
        if (!is_about_one) continue;
        const auto& process = *event.process;
        const auto& id = process.id.text();
        if (event.session_id != process.session_id) {
            return fmt::format("process {} is told of another session", id);
        }
        const auto before = running.find(id);
        if (event.type == EventType::process_start) {
            if (before != running.end()) return fmt::format("process {} starts twice", id);
            if (process.exit) return fmt::format("process {} starts and is over", id);
            running[id] = true;
            continue;
        }
        if (before == running.end() || !before->second) {
            return fmt::format("process {}: {} while it does not run", id,
                               name_in(event_type_names, event.type));
        }
        const bool is_exit = event.type == EventType::process_exit;
        if (process.exit.has_value() != is_exit) return fmt::format("process {}: no exit", id);
        if (is_exit) before->second = false;
    }
    return {};
}

std::string exit_unfounded(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.process || !event.process->exit) continue;
        const auto what = wrong_exit(*event.process, scene);
        if (what.empty()) continue;
        return fmt::format("process {}: {} {}: {}", event.process->id.text(),
                           name_in(exit_kind_names, event.process->exit->kind),
                           event.process->exit->number, what);
    }
    return {};
}

namespace {

/// Its next generation begins in the same step, with all that runs in it.
bool goes_on_at_once(const Event& end, const Scene& scene) {
    return std::ranges::any_of(scene.step.told, [&](const Event& other) {
        return other.type == EventType::session_start && other.session_id == end.session_id &&
               other.generation == end.generation + 1;
    });
}

/// What begins in its place in the same step.
const Event* successor_of(const Event& end, const Scene& scene) {
    const auto found = std::ranges::find_if(scene.step.told, [&](const Event& other) {
        return other.type == EventType::session_start && other.generation == 1 &&
               other.seq > end.seq && other.parent_id == end.session_id &&
               other.relation != Relation::none;
    });
    return found == scene.step.told.end() ? nullptr : &*found;
}

/// What a conversation that begins anew does with them, as its policy says.
bool is_fate_of_reset(Fate fate, const Event& event, const Scene& scene) {
    const auto* one = scene.ledger.conversations.find(event.session_id);
    // Opened in this very step.
    if (one == nullptr) return true;
    const auto policies = scene.ledger.conversations.policies_of(*one, scene.step.by_former);
    return std::ranges::any_of(policies, [&](const ResetPolicy& policy) {
        switch (policy.on_reset) {
            case OnReset::keep:
                return fate == Fate::handed_over || fate == Fate::left;
            case OnReset::warn:
                return fate == Fate::left;
            case OnReset::stop:
                break;
        }
        // What works is left where its owner was only found to be gone.
        return fate == Fate::stopping || (fate == Fate::left && !is_reset_end(*event.end));
    });
}

/// A conversation that goes on takes them with it, whatever its command is to leave behind.
bool is_right_fate(Fate fate, const Event& event, const Life& life, const Scene& scene) {
    if (fate == Fate::shared || fate == Fate::gone) return true;
    const auto reason = event.end->reason;
    const auto* successor = successor_of(event, scene);
    const bool goes_on = reason == Reason::compression || reason == Reason::branched;
    if (goes_on && successor != nullptr) return fate == Fate::handed_over;
    const bool is_reset = successor != nullptr && successor->relation == Relation::reset;
    const bool is_by_leftovers =
        fate == (life.leftovers == LeftoversPolicy::stop ? Fate::stopping : Fate::left);
    if (is_reset || is_reset_end(*event.end)) {
        // It may have ended by somebody's word, or with its owner before the reset came.
        const bool is_over_before =
            !is_reset_end(*event.end) ||
            scene.ledger.may_be_closed(event.session_id, event.generation, reason);
        return is_fate_of_reset(fate, event, scene) || (is_over_before && is_by_leftovers);
    }
    return is_by_leftovers || (fate == Fate::left && goes_on_at_once(event, scene));
}

}  // namespace

std::string process_unnamed(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        // One that is handed over goes on, and its processes with it.
        if (!event.end || event.end->reason == Reason::superseded) continue;
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        for (const auto& [id, known] : scene.ledger.processes()) {
            if (!known.running || known.session != event.session_id) continue;
            const bool went = std::ranges::any_of(scene.step.told, [&](const Event& other) {
                return other.process && other.process->exit && other.process->id.text() == id;
            });
            if (went || life == nullptr) continue;
            const auto found = std::ranges::find_if(
                event.end->leftovers, [&](const Leftover& l) { return l.process_id.text() == id; });
            if (found == event.end->leftovers.end()) {
                return fmt::format("session {} ends, and does not name process {}",
                                   event.session_id.text(), id);
            }
            if (is_right_fate(found->fate, event, *life, scene)) continue;
            return fmt::format("session {} ends, and process {} is {}", event.session_id.text(), id,
                               name_in(fate_names, found->fate));
        }
    }
    return {};
}

std::string too_many_processes(const Scene& scene) {
    if (scene.ledger.running() > Background::node_max) {
        return fmt::format("{} run, {} may", scene.ledger.running(), Background::node_max);
    }
    std::map<std::string, std::size_t> of;
    for (const auto& [id, known] : scene.ledger.processes()) {
        if (!known.running || known.origin == ProcessOrigin::leftover) continue;
        if (++of[known.session.text()] <= Background::per_session_max) continue;
        return fmt::format("more processes of session {} run than may", known.session.text());
    }
    return {};
}

}  // namespace knell::sim
