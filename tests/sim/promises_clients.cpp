// About clients that look at sessions: what is on record of them is who is there, and what a hosted
// session is kept for is what holds it.

#include <fmt/format.h>

#include "clients.hpp"
#include "promises.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

std::string miscounted(const SessionId& id, const LookedAt& truth, const Scene& scene) {
    const auto row = scene.reader->find(id);
    if (!row || !*row) return {};  // a bad disk
    const auto least = static_cast<std::int32_t>(truth.attached.size());
    const auto most = least + static_cast<std::int32_t>(truth.leaving.size());
    const auto attached = (*row)->attached;
    if (attached >= least && attached <= most) return {};
    return fmt::format("session {}: {} clients look at it, on record are {}", id.text(), least,
                       attached);
}

}  // namespace

std::string clients_miscounted(const Scene& scene) {
    if (scene.reader == nullptr || scene.step.failed) return {};
    for (const auto& [id, truth] : scene.clients->looked_at()) {
        if (!truth.open) continue;
        if (auto what = miscounted(SessionId(id), truth, scene); !what.empty()) return what;
    }
    return {};
}

std::string attach_lost(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.end || event.end->reason != Reason::detached_expiry) continue;
        const auto* truth = scene.clients->find(event.session_id);
        if (truth == nullptr || !truth->ended_while_held) continue;
        return fmt::format("session {}: expired while a client was there for it",
                           event.session_id.text());
    }
    return {};
}

std::string wrongly_told(const Scene& scene) {
    return scene.clients->wrongly_told();
}

/// After everybody has gone for long.
std::string going_untold(const Scene& scene) {
    for (const auto& [id, truth] : scene.clients->looked_at()) {
        if (!truth.open || !truth.told.value_or(false)) continue;
        return fmt::format("session {}: its last client has gone long ago, and nobody was told",
                           id);
    }
    return {};
}

std::string expired_too_early(const SessionId& id, const Life& life, const Scene& scene) {
    if (life.owner.kind != OwnerKind::hosted) return "expired, but it is not hosted";
    const auto& truth = *scene.clients->find(id);
    const auto& ledger = scene.ledger;
    const auto held_until =
        std::max({ledger.runs_from(life), truth.empty_since, ledger.held_at(id)});
    const auto silent = ledger.listened() - held_until;
    if (silent >= life.owner.lease_ttl) return {};
    return fmt::format("expired after {} ms in which nothing held it, its window is {} s",
                       silent / 1ms, life.owner.lease_ttl.count());
}

}  // namespace knell::sim
