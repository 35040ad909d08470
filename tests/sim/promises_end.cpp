// About ends: each is compared with what really happened to the owner.

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

const Host::Process* process_of(const Life& life, const Host& host) {
    for (const auto& process : host.processes()) {
        if (process.identity == life.owner.process) return &process;
    }
    return nullptr;
}

std::string reaped_too_early(const Life& life, const Scene& scene) {
    if (life.owner.kind != OwnerKind::lease) return "reaped, but it is owned by a process";
    const auto& ledger = scene.ledger;
    const auto silent = ledger.listened() - ledger.runs_from(life);
    if (silent >= life.owner.lease_ttl) return {};
    return fmt::format("reaped after {} ms of silence that could be heard, its lease is {} s",
                       silent / 1ms, life.owner.lease_ttl.count());
}

std::string park_too_short(const Life& life, const Scene& scene) {
    const auto waited = scene.ledger.listened_since_death(life.owner.process);
    if (waited >= life.park_window) return {};
    return fmt::format("its park window of {} s was over after {} ms", life.park_window.count(),
                       waited / 1ms);
}

/// Whether the way it went is the way it really went; "nobody saw how" is always honest.
bool tells_the_truth(Reason reason, const Departure& went) {
    using enum Departure::Kind;
    switch (went.kind) {
        case exited:
            return reason == Reason::exited || reason == Reason::owner_lost;
        case signaled:
            return reason == Reason::signaled || reason == Reason::owner_lost;
        case oom_killed:
            return reason == Reason::oom_killed || reason == Reason::owner_lost;
        case host_restart:
            return reason == Reason::host_restart;
        case lost:
        case stopped:
            return reason == Reason::owner_lost || reason == Reason::shutdown;
    }
    return false;
}

}  // namespace

std::string owner_is_well(Reason reason, const Life& life, const Scene& scene) {
    if (life.owner.kind != OwnerKind::process) return "its owner is no process that can be gone";
    const auto* process = process_of(life, scene.host);
    if (process == nullptr) return "its owner was never there";
    if (process->alive) return fmt::format("its owner, process {}, lives", process->identity.pid);
    // A boot that is over says nothing of those that had ended before.
    const bool other_boot = process->identity.boot_id != scene.host.boot_id();
    if (reason == Reason::host_restart) return other_boot ? "" : "the host has not restarted";
    if (other_boot || tells_the_truth(reason, process->went)) return {};
    return fmt::format("ended as {}, which is not how its owner went", name_of(reason));
}

bool exited_well(const Life& life, const Scene& scene) {
    const auto* process = process_of(life, scene.host);
    return life.leftovers != LeftoversPolicy::none && process != nullptr && !process->alive &&
           process->went.kind == Departure::Kind::exited && process->went.number == 0;
}

namespace {

bool has_next(const Event& event, const Scene& scene) {
    return scene.ledger.life(event.session_id, event.generation + 1) != nullptr;
}

std::string unfounded(const Event& event, const Scene& scene) {
    const auto& end = *event.end;
    if (end.evidence.empty()) return "no evidence";
    if (end.ended_after > end.ended_at || end.ended_at > end.ended_before) return "bounds crossed";
    const auto* life = scene.ledger.life(event.session_id, event.generation);
    if (life == nullptr || !life->is_owner_known) return {};
    if (scene.ledger.may_be_closed(event.session_id, event.generation, end.reason)) return {};
    switch (end.reason) {
        case Reason::superseded:
            return has_next(event, scene) ? "" : "superseded by nobody";
        case Reason::detached_expiry:
            return expired_too_early(event.session_id, *life, scene);
        case Reason::reaped:
            return reaped_too_early(*life, scene);
        case Reason::owner_lost:
            if (end.detail == "park window over") return park_too_short(*life, scene);
            return owner_is_well(end.reason, *life, scene);
        case Reason::completed:
            return exited_well(*life, scene) ? "" : "nobody said that it completed";
        case Reason::exited:
        case Reason::signaled:
        case Reason::oom_killed:
        case Reason::host_restart:
        case Reason::shutdown:
            return owner_is_well(end.reason, *life, scene);
        case Reason::manual_reset:
            return scene.ledger.conversations.may_be_reset(event.session_id) ? ""
                                                                             : "nobody said so";
        // Judged with what is known of conversations.
        case Reason::auto_reset:
        case Reason::idle_expiry:
        case Reason::daily_reset:
        case Reason::compression:
        case Reason::branched:
            return {};
        case Reason::node_lost:
        case Reason::imported:
            return "nobody said so";
    }
    return "a reason that does not exist";
}

}  // namespace

std::string end_unfounded(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (event.type != EventType::session_end) continue;
        if (!event.end) return "an end without an end";
        const auto what = unfounded(event, scene);
        if (what.empty()) continue;
        return fmt::format("session {} generation {} ended ({}): {}", event.session_id.text(),
                           event.generation, name_of(event.end->reason), what);
    }
    return {};
}

std::string renewal_ignored(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.end || event.end->reason != Reason::reaped) continue;
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life == nullptr || !life->arrived_sign) continue;
        const auto since = scene.ledger.listened() - *life->arrived_sign;
        if (since >= life->owner.lease_ttl) continue;
        return fmt::format("session {}: reaped {} ms after its renewal arrived, its lease is {} s",
                           event.session_id.text(), since / 1ms, life->owner.lease_ttl.count());
    }
    return {};
}

std::string outlived_its_lease(const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.sessions()) {
        if (!known.open) continue;
        const auto* life = scene.ledger.life(SessionId(id), known.generation);
        if (!life->is_owner_known || life->owner.kind != OwnerKind::lease) continue;
        // Its time, its full time again after a restart, and once more when a crowd is held.
        const auto most = life->owner.lease_ttl * (life->was_unknown ? 3 : 2) + 4s;
        const auto used = scene.ledger.used() - life->used_at_sign;
        if (used <= most) continue;
        return fmt::format(
            "session {}: silent for {} ms in which daemons listened, its lease of "
            "{} s is not over",
            id, used / 1ms, life->owner.lease_ttl.count());
    }
    return {};
}

std::string observed_by_nobody(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.end || event.end->proof != Proof::observed) continue;
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life == nullptr || !life->is_owner_known) continue;
        const bool gone =
            life->owner.kind == OwnerKind::process && !scene.host.is_alive(life->owner.process);
        if (gone) continue;
        return fmt::format("session {} generation {}: {} (observed), but its owner is there",
                           event.session_id.text(), event.generation, name_of(event.end->reason));
    }
    return {};
}

std::string crowd_reaped(const Scene& scene) {
    std::size_t reaped = 0;
    for (const auto& event : scene.step.told) {
        if (!event.end || event.end->reason != Reason::reaped) continue;
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life != nullptr && !life->was_held) ++reaped;
    }
    const auto leases = scene.ledger.open_leases() + reaped;
    if (leases < 20 || reaped * 2 <= leases) return {};
    return fmt::format("{} of {} leases were reaped in one step, without being held", reaped,
                       leases);
}

std::string dead_unnoticed(const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.sessions()) {
        if (!known.open) continue;
        const auto* life = scene.ledger.life(SessionId(id), known.generation);
        const auto* live = scene.state->find(SessionId(id));
        if (live == nullptr || live->parked_since()) continue;
        if (life->owner.kind != OwnerKind::process) continue;
        if (scene.host.is_alive(life->owner.process)) continue;
        return fmt::format("session {}: its owner, process {}, is gone and nobody noticed", id,
                           life->owner.process.pid);
    }
    return {};
}

std::string still_open(const Scene& scene) {
    for (const auto& [id, known] : scene.ledger.sessions()) {
        if (!known.open) continue;
        const auto* life = scene.ledger.life(SessionId(id), known.generation);
        if (life->owner.kind == OwnerKind::lease) {
            return fmt::format("session {}: its lease was not renewed for long, it is open", id);
        }
        if (life->owner.kind == OwnerKind::hosted) {
            return fmt::format("session {}: nothing holds it, and it is open", id);
        }
        if (!scene.host.is_alive(life->owner.process)) {
            return fmt::format("session {}: its owner, process {}, is gone, it is open", id,
                               life->owner.process.pid);
        }
        const auto* live = scene.state->find(SessionId(id));
        if (live == nullptr) return fmt::format("session {}: the daemon has forgotten it", id);
        const bool silent = life->owner.lease_ttl.count() > 0;
        if (silent && live->status() != Status::stalled) {
            return fmt::format("session {}: silent and alive, but {} instead of stalled", id,
                               name_in(status_names, live->status()));
        }
        if (live->status() == Status::unknown || live->status() == Status::detached) {
            return fmt::format("session {}: its owner is there, but it is {}", id,
                               name_in(status_names, live->status()));
        }
    }
    return {};
}

}  // namespace knell::sim
