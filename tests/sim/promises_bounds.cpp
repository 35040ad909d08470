// About time: what is said of when an owner ended, and of whether it is watched, is compared with
// what is true.

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

const Host::Process* dead_owner(const Life& life, const Host& host) {
    for (const auto& process : host.processes()) {
        if (process.identity == life.owner.process && !process.alive) return &process;
    }
    return nullptr;
}

bool is_within(const End& end, WallTime time, std::chrono::milliseconds slack) {
    return end.ended_after - slack <= time && time <= end.ended_before + slack;
}

/// A set clock leaves several truths about when something was: by the clock of then, by the clock
/// as it was set each time since, and by the session's own, which goes on.
bool contains_death(const End& end, const Life& life, const Host::Process& dead, const Host& host) {
    constexpr auto rounding = 1ms;
    // Its owner was gone before it was opened, because a call came late: it ended when it began.
    if (dead.ended_at <= life.opened_at && end.ended_after == life.opened_wall) return true;
    if (is_within(end, dead.ended_wall, rounding)) return true;
    if (host.clock_sets().empty()) return false;
    // Set back while no daemon looked: how long it lived nobody can know, and the record says so.
    if (end.evidence.contains("the wall clock was set back")) return true;
    auto time = dead.ended_wall;
    for (std::size_t set = dead.ended_after_sets; set < host.clock_sets().size(); ++set) {
        time += host.clock_sets()[set];
        if (is_within(end, time, rounding)) return true;
    }
    // When it was opened is known from outside only as well as the disk was quick.
    const auto lived = std::chrono::ceil<std::chrono::milliseconds>(dead.ended_at - life.opened_at);
    return is_within(end, life.opened_wall + lived, 20s);
}

std::string false_bounds(const Event& event, const Scene& scene) {
    const auto* life = scene.ledger.life(event.session_id, event.generation);
    if (life == nullptr || !life->is_owner_known) return {};
    const auto& end = *event.end;
    if (end.ended_at < event.started_at) return "it ended before it began";
    if (life->owner.kind == OwnerKind::lease) return {};
    if (scene.ledger.may_be_closed(event.session_id, event.generation, end.reason)) return {};
    if (end.reason == Reason::superseded) return {};
    const auto* dead = dead_owner(*life, scene.host);
    if (dead == nullptr || contains_death(end, *life, *dead, scene.host)) return {};
    return fmt::format("its owner ended at {}, it is said to have been between {} and {}",
                       format_rfc3339(dead->ended_wall), format_rfc3339(end.ended_after),
                       format_rfc3339(end.ended_before));
}

}  // namespace

std::string bounds_false(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.end) continue;
        const auto what = false_bounds(event, scene);
        if (what.empty()) continue;
        return fmt::format("session {} generation {} ({}): {}", event.session_id.text(),
                           event.generation, name_of(event.end->reason), what);
    }
    return {};
}

std::string watch_differs(const Scene& scene) {
    if (scene.watching == nullptr || scene.words_on_their_way) return {};
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto* live = known.open ? scene.state->find(SessionId(id)) : nullptr;
        if (live == nullptr || live->parked_since() || live->owner_kind() == OwnerKind::lease) {
            continue;
        }
        const auto owner = live->owner(scene.state->realms()).process;
        if (!scene.host.is_alive(owner)) continue;
        const auto how = scene.watching->how(owner);
        if (how == WatchList::How::not_watched) {
            return fmt::format("session {}: nobody watches its owner, process {}", id, owner.pid);
        }
        if ((how == WatchList::How::unclear) != live->unknown_since().has_value()) {
            return fmt::format("session {}: it is {}, but its owner, process {}, is {}", id,
                               name_in(status_names, live->status()), owner.pid,
                               how == WatchList::How::unclear ? "unclear" : "watched");
        }
    }
    return {};
}

}  // namespace knell::sim
