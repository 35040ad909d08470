// About deaths that the daemon was told of: what anybody says after that does not change how a
// session ended.

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

using Seen = std::map<std::string, std::vector<Departure>>;

/// The sessions that a word may have ended.
std::vector<std::string> ended_by(const Said& said) {
    if (!said.reply) return {};
    if (const auto* routed = std::get_if<RoutedReply>(&*said.reply)) {
        if (!routed->auto_reset) return {routed->session.session_id.text()};
        return {routed->session.session_id.text(), routed->auto_reset->prior.text()};
    }
    if (const auto* reset = std::get_if<ResetReply>(&*said.reply)) {
        return {reset->closed.session_id.text()};
    }
    const bool may_end = as<Close>(said.input) != nullptr || as<Resume>(said.input) != nullptr ||
                         as<Branch>(said.input) != nullptr || as<Compress>(said.input) != nullptr;
    if (!may_end) return {};
    return {subject_of(said.input)->text()};
}

/// What the running daemon knew of the owner's end before the first word in this step that could
/// end the session: words are decided in the order in which they came.
Seen seen_before_any_word(const Scene& scene) {
    Seen seen;
    std::set<std::string> spoken_of;
    for (const auto& [id, known] : scene.ledger.sessions()) {
        if (known.open) seen[id] = known.lives.at(known.generation).deaths_seen;
    }
    for (const auto& said : scene.step.said) {
        if (const auto* gone = as<OwnerGone>(said.input)) {
            for (auto& [id, deaths] : seen) {
                const auto& known = *scene.ledger.find(SessionId(id));
                const auto& owner = known.lives.at(known.generation).owner;
                const bool is_its_owner =
                    owner.kind == OwnerKind::process && owner.process == gone->process;
                if (is_its_owner && !spoken_of.contains(id)) deaths.push_back(gone->departure);
            }
        }
        for (const auto& id : ended_by(said)) spoken_of.insert(id);
    }
    return seen;
}

/// The wrapper waited for the command: its word is an observation, too, and says more.
bool is_wrappers_word(const Event& event, const Life& life, const Scene& scene) {
    for (const auto& said : scene.step.said) {
        const auto* close = as<Close>(said.input);
        if (close == nullptr || close->session_id != event.session_id || !close->is_over) continue;
        if (close->caller == life.wrapper && event.end->proof == Proof::observed) return true;
    }
    return false;
}

bool tells_of(const Departure& death, const End& end, const Life& life) {
    const auto& row = row_of(path_for(death, life.leftovers != LeftoversPolicy::none));
    return end.reason == row.reason && end.proof == row.proof &&
           end.evidence.starts_with(death.evidence);
}

/// Of a command that is only known to be gone its wrapper may still have written how it ended.
bool is_spooled_word(const Event& event, const std::vector<Departure>& deaths, const Life& life,
                     const Scene& scene) {
    const auto run = scene.ledger.runs.find(event.session_id.text());
    if (run == scene.ledger.runs.end() || !run->second.is_over) return false;
    const bool is_its_own = run->second.create.draft.owner.process == life.owner.process;
    return is_its_own && event.end->proof == Proof::declared &&
           std::ranges::all_of(
               deaths, [](const Departure& death) { return death.kind == Departure::Kind::lost; });
}

}  // namespace

std::string death_hidden(const Scene& scene) {
    if (scene.step.said.empty() && scene.step.told.empty()) return {};
    const auto seen = seen_before_any_word(scene);
    for (const auto& event : scene.step.told) {
        if (!event.end) continue;
        const auto deaths = seen.find(event.session_id.text());
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life == nullptr || !life->is_owner_known || deaths == seen.end()) continue;
        // A parked session has lost its owner, and is then whoever's says so.
        if (deaths->second.empty() || life->on_owner_loss != OnOwnerLoss::end) continue;
        const bool is_told = std::ranges::any_of(deaths->second, [&](const Departure& death) {
            return tells_of(death, *event.end, *life);
        });
        if (is_told || is_wrappers_word(event, *life, scene)) continue;
        if (is_spooled_word(event, deaths->second, *life, scene)) continue;
        return fmt::format(
            "session {} generation {}: ended as {} ({}), but its owner was seen to go before that",
            event.session_id.text(), event.generation, name_of(event.end->reason),
            event.end->evidence);
    }
    return {};
}

}  // namespace knell::sim
