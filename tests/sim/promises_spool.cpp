// About what was written down while no daemon could be reached.

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

/// The generations that the command of a run owns.
std::vector<const Life*> lives_of(const SpooledRun& run, const Ledger& ledger) {
    std::vector<const Life*> lives;
    const auto* known = ledger.find(run.create.draft.id);
    if (known == nullptr) return lives;
    for (const auto& [generation, life] : known->lives) {
        if (life.is_owner_known && life.owner.process == run.create.draft.owner.process) {
            lives.push_back(&life);
        }
    }
    return lives;
}

}  // namespace

std::string spooled_end_ignored(const Scene& scene) {
    if (!scene.step.by_start) return {};
    for (const auto& event : scene.step.told) {
        if (!event.end || event.end->reason != Reason::owner_lost) continue;
        const auto run = scene.ledger.runs.find(event.session_id.text());
        if (run == scene.ledger.runs.end() || !run->second.is_over) continue;
        // A later life under the same id may have died untold.
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life == nullptr || life->owner.process != run->second.create.draft.owner.process) {
            continue;
        }
        return fmt::format("session {} ended as owner_lost, though its file says how",
                           event.session_id.text());
    }
    return {};
}

std::string run_lost(const Scene& scene) {
    const auto& run = *scene.run;
    const auto& id = run.create.draft.id.text();
    const auto lives = lives_of(run, scene.ledger);
    if (run.is_broken) return fmt::format("the file of {} told nothing, and was deleted", id);
    if (lives.empty()) return fmt::format("the file of {} was deleted, nothing is on record", id);
    if (run.is_over && lives.back()->open) {
        return fmt::format("the file of {} was deleted, its close is not on record", id);
    }
    return {};
}

std::string run_doubled(const Scene& scene) {
    for (const auto& [id, run] : scene.ledger.runs) {
        const auto lives = lives_of(run, scene.ledger);
        if (lives.size() > 1) return fmt::format("{} was taken in {} times", id, lives.size());
    }
    return {};
}

std::string spool_not_empty(const Scene& scene) {
    for (const auto& [id, lines] : scene.spool->files()) {
        // It waits for the other one under its id.
        const auto* other = scene.ledger.find(SessionId(id));
        const bool is_next = lives_of(scene.ledger.runs.at(id), scene.ledger).empty();
        if (other == nullptr || !other->open || !is_next) {
            return fmt::format("the file of {} is still there", id);
        }
    }
    for (const auto& [id, run] : scene.ledger.runs) {
        const bool is_kept = scene.spool->set_aside().contains(id);
        if (!run.is_broken && is_kept) {
            return fmt::format("the file of {} was set aside, and can be understood", id);
        }
        if (run.is_broken && !is_kept) {
            return fmt::format("the file of {} cannot be understood, and is not kept", id);
        }
        if (scene.spool->files().contains(id)) continue;
        if (is_kept || !run.has_written || !lives_of(run, scene.ledger).empty()) continue;
        return fmt::format("{} is neither on record nor kept", id);
    }
    return {};
}

}  // namespace knell::sim
