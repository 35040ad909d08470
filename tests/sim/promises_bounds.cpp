// About time: what is said of when an owner ended, and of whether it is watched, is compared with
// what is true.

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

const Host::Process* dead(const ProcessIdentity& identity, const Host& host) {
    for (const auto& process : host.processes()) {
        if (process.identity == identity && !process.alive) return &process;
    }
    return nullptr;
}

/// What is said of when somebody ended, be it a session's owner or a background process.
struct Bounds {
    WallTime after;
    WallTime before;
    const std::string& evidence;
};

/// What it counts its times from.
struct Since {
    Host::Duration opened_at;
    const std::vector<Host::Ahead>& opened_ahead;
    WallTime opened_wall;
    Host::Duration clock_from;  // since when it has its clock
};

Since since_of(const Life& life) {
    return {life.opened_at, life.opened_ahead, life.opened_wall, life.opened_at};
}

/// It counts by the clock of its session, which may have begun before the last start.
Since since_of(const KnownProcess& process, const Ledger& ledger) {
    auto clock_from = process.opened_at;
    if (const auto* session = ledger.find(process.session)) {
        for (const auto& [generation, life] : session->lives) {
            clock_from = std::min(clock_from, life.opened_at);
        }
    }
    return {process.opened_at, process.opened_ahead, process.opened_wall, clock_from};
}

bool is_within(const Bounds& end, WallTime time) {
    constexpr auto rounding = 1ms;
    return end.after - rounding <= time && time <= end.before + rounding;
}

/// A set clock leaves several truths about when something was.  A session counts by the clock on
/// the wall, and goes on as before when that is set back: so by one of those that were on the wall
/// since it was opened, or the one it began with.
std::vector<Host::Ahead> clocks_of(const Since& life, Host::Duration written_at, const Host& host) {
    auto clocks = host.clocks_between(life.opened_at, written_at);
    clocks.insert(clocks.end(), life.opened_ahead.begin(), life.opened_ahead.end());
    return clocks;
}

/// Set back, and the daemon that measured by how much is no more: the session's times go on from
/// the newest that is on record, and between then and now nobody counted.  So only when another
/// daemon has come `since`, and it has to say so.
bool may_be_uncounted(const Bounds& end, Host::Duration since, Host::Ahead fastest,
                      Host::Duration written_at, const Scene& scene) {
    const bool came_later = std::ranges::any_of(
        scene.ledger.started_at(),
        [&](Host::Duration start) { return since <= start && start <= written_at; });
    const bool was_set_back = scene.host.clocks_between(written_at, written_at).back() < fastest;
    const bool says_so = end.evidence.contains("the wall clock was set back");
    return came_later && was_set_back && says_so;
}

/// Nothing ends before it begins: an owner that was gone by then ended when its session began.
WallTime ended_at(const Host::Process& dead, Host::Ahead clock, const Since& life) {
    return std::max(Host::shown_at(dead.ended_at, clock), life.opened_wall);
}

bool contains_death(const Bounds& end, const Since& life, const Host::Process& dead,
                    const std::vector<Host::Ahead>& clocks) {
    return std::ranges::any_of(
        clocks, [&](Host::Ahead clock) { return is_within(end, ended_at(dead, clock, life)); });
}

/// An end that was written at that time, by the clock that its event shows.
std::string false_end(const Event& event, const Bounds& end, const Since& life, bool is_declared,
                      const Host::Process* dead, Host::Duration written_at, const Scene& scene) {
    auto clocks = clocks_of(life, written_at, scene.host);
    const auto fastest = std::ranges::max(clocks);
    const auto written_by = event.time - Host::shown_at(written_at, {});
    if (std::ranges::find(clocks, written_by) == clocks.end()) {
        const bool is_between =
            scene.host.clocks_between(written_at, written_at).back() <= written_by &&
            written_by <= fastest;
        const bool is_uncounted =
            may_be_uncounted(end, life.clock_from, fastest, written_at, scene);
        // What follows the end of its session is told as of that end, if the clock is behind it.
        const bool is_told = is_declared || is_uncounted || event.after_end;
        if (!is_between || !is_told) {
            return fmt::format("it was written at {}, which no clock showed ({})",
                               format_rfc3339(event.time), end.evidence);
        }
        if (is_declared || is_uncounted) clocks.push_back(written_by);
    }
    // A process goes on from the newest time on its own record, its session from another.
    const auto own = end.before - Host::shown_at(written_at, {});
    const bool goes_on = event.process &&
                         may_be_uncounted(end, life.clock_from, fastest, written_at, scene) &&
                         scene.host.clocks_between(written_at, written_at).back() <= own;
    if (goes_on && own <= fastest) clocks.push_back(own);
    // What somebody only says may be anything.
    if (is_declared || dead == nullptr) return {};
    if (contains_death(end, life, *dead, clocks)) return {};
    // Who saw it go counted by the clock that it wrote by: only a daemon that came after the death
    // can be wrong, and then not in that it was there later than by the fastest clock.
    const bool is_excused = may_be_uncounted(end, dead->ended_at, fastest, written_at, scene) &&
                            end.after <= ended_at(*dead, fastest, life);
    if (is_excused) return {};
    const auto clock = scene.host.clocks_between(dead->ended_at, dead->ended_at).back();
    return fmt::format("it ended at {}, it is said to have been between {} and {} ({})",
                       format_rfc3339(Host::shown_at(dead->ended_at, clock)),
                       format_rfc3339(end.after), format_rfc3339(end.before), end.evidence);
}

std::string false_bounds(const Event& event, const Scene& scene) {
    const auto* life = scene.ledger.life(event.session_id, event.generation);
    if (life == nullptr || !life->is_owner_known) return {};
    if (event.end->ended_at < event.started_at) return "it ended before it began";
    if (life->owner.kind != OwnerKind::process) return {};
    std::string what;
    for (const auto written_at : scene.step.decided_at) {
        const auto& end = *event.end;
        // A policy ends the conversation, whatever became of its owner.
        const bool is_said = end.proof == Proof::declared || end.proof == Proof::policy;
        what = false_end(event, {end.ended_after, end.ended_before, end.evidence}, since_of(*life),
                         is_said, dead(life->owner.process, scene.host), written_at, scene);
        if (what.empty()) return {};
    }
    return what;
}

std::string false_exit(const Event& event, const Scene& scene) {
    const auto& process = *event.process;
    const auto& exit = *process.exit;
    if (exit.after > exit.at || exit.at > exit.before) return "bounds crossed";
    if (exit.at < process.started_at) return "it ended before it began";
    const auto* known = scene.ledger.find(process.id);
    if (known == nullptr) return {};
    std::string what;
    for (const auto written_at : scene.step.decided_at) {
        what = false_end(
            event, {exit.after, exit.before, exit.evidence}, since_of(*known, scene.ledger),
            /*is_declared=*/false, dead(process.process, scene.host), written_at, scene);
        if (what.empty()) return {};
    }
    return what;
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

std::string false_park(const Life& life, const LiveSession& parked, const Scene& scene) {
    const auto& why = parked.park_why();
    const Bounds bounds{*parked.parked_since(), *parked.parked_before(), why};
    if (bounds.after > bounds.before) return "bounds crossed";
    const auto* process = dead(life.owner.process, scene.host);
    // A clock that was set back unseen excuses, if it is said.
    if (process == nullptr || why.contains("the wall clock was set back")) return {};
    const auto since = since_of(life);
    const auto clocks = clocks_of(since, scene.host.elapsed(), scene.host);
    if (contains_death(bounds, since, *process, clocks)) return {};
    const auto clock = scene.host.clocks_between(process->ended_at, process->ended_at).back();
    return fmt::format("its owner ended at {}, it is said to have been between {} and {} ({})",
                       format_rfc3339(Host::shown_at(process->ended_at, clock)),
                       format_rfc3339(bounds.after), format_rfc3339(bounds.before), why);
}

std::string exit_bounds_false(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.process || !event.process->exit) continue;
        const auto what = false_exit(event, scene);
        if (!what.empty()) return fmt::format("process {}: {}", event.process->id.text(), what);
    }
    return {};
}

std::string watch_differs(const Scene& scene) {
    if (scene.watching == nullptr || scene.words_on_their_way) return {};
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto* live = known.open ? scene.state->find(SessionId(id)) : nullptr;
        if (live == nullptr || live->parked_since() || live->owner_kind() != OwnerKind::process) {
            continue;
        }
        const auto owner = live->owner(scene.state->owner_hosts()).process;
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
