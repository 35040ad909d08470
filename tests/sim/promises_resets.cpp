// About resets: when they come, what holds them back, and who is told.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"
#include "reset_truth.hpp"

namespace knell::sim {

namespace {

/// A turn of it was ended in this step, before whatever else was decided.
bool ends_its_turn(const Said& said, const SessionId& id) {
    const auto* turn = as<Turn>(said.input);
    return turn != nullptr && !turn->on && turn->session_id == id && said.reply;
}

/// Processes of that session that hold its reset: those of which that is sure, or may be.
std::set<std::string> holders(const std::string& session, const Conversation& one, Asks who,
                              Belief least, const Scene& scene) {
    std::set<std::string> found;
    for (const auto& [id, process] : scene.ledger.processes()) {
        if (process.session.text() != session) continue;
        if (holds(id, process, one, who, scene) >= least) found.insert(id);
    }
    return found;
}

/// One that comes in this step, or whose session it is only since then.
bool may_get_some(const std::string& session, const Scene& scene) {
    return std::ranges::any_of(scene.step.told, [&](const Event& event) {
        const bool comes = event.type == EventType::process_start;
        const bool goes_on = event.type == EventType::session_start && !event.parent_id.empty();
        return event.session_id.text() == session && (comes || goes_on);
    });
}

std::string wrong_reset(const Event& event, const Conversations& known, const Scene& scene) {
    if (!event.end) return {};
    const auto reason = event.end->reason;
    const bool by_message = reason == Reason::auto_reset;
    if (!by_message && reason != Reason::idle_expiry && reason != Reason::daily_reset) return {};
    const auto& id = event.session_id;
    const auto* one = known.find(id);
    if (one == nullptr || one->key.empty()) return "it has no key";
    if (by_message && event.end->detail == "suspended") {
        // Or in this very step, which opened it.
        const bool is_asked = std::ranges::any_of(scene.step.said, [](const Said& said) {
            return as<Suspend>(said.input) != nullptr || as<Reset>(said.input) != nullptr;
        });
        const bool may_be = one->suspended != Belief::no || is_asked || scene.step.by_former;
        return may_be ? "" : "nobody has suspended it";
    }
    auto kind = reason == Reason::daily_reset ? ResetKind::daily : ResetKind::idle;
    if (by_message && event.end->detail == "daily") kind = ResetKind::daily;
    if (!may_be_due(*one, kind, scene)) {
        return fmt::format("it was not due ({})", name_in(reset_kind_names, kind));
    }
    // As it was before the step: its end ends the turn, too.
    const auto* before = scene.ledger.conversations.find(id);
    const bool had_turn = before != nullptr && before->has_turn;
    const bool is_over = std::ranges::any_of(
        scene.step.said, [&](const Said& said) { return ends_its_turn(said, id); });
    const bool is_handed_on = scene.ledger.find(id)->generation != event.generation;
    if (had_turn && !is_over && !is_handed_on && !scene.step.by_former && !scene.step.by_start) {
        return "a turn is on";
    }
    const auto held = holders(id.text(), *one, Asks::policy, Belief::yes, scene);
    return held.empty() ? "" : fmt::format("process {} holds it", *held.begin());
}

std::string wrong_deferral(const Event& event, const Conversations& known, const Scene& scene) {
    if (event.type != EventType::session_reset_deferred) return {};
    const auto* one = known.find(event.session_id);
    if (one == nullptr || one->key.empty()) return "it has no key";
    if (event.blockers.empty()) return "nothing holds it";
    if (!may_be_due(*one, {}, scene)) return "it is not due";
    std::set<std::string> told;
    for (const auto& blocker : event.blockers) {
        const auto& id = blocker.process_id.text();
        told.insert(id);
        const auto* process = scene.ledger.find(blocker.process_id);
        if (process == nullptr) continue;  // it came in this step
        const bool is_its = process->session == event.session_id;
        if (is_its && holds(id, *process, *one, Asks::policy, scene) == Belief::no) {
            return fmt::format("process {} does not hold it", id);
        }
    }
    const auto all = holders(event.session_id.text(), *one, Asks::policy, Belief::yes, scene);
    for (const auto& id : all) {
        if (!told.contains(id)) return fmt::format("process {} holds it, too", id);
    }
    const bool is_clock_set = scene.host.clocks_between({}, scene.host.elapsed()).size() > 1;
    const bool is_again = one->told_held_by == told && !one->may_be_told_again && !is_clock_set;
    return is_again ? "the same was told before" : "";
}

/// Its owner is gone, or may be: it ends by that.
bool may_be_ending(const SessionId& id, const Scene& scene) {
    const auto* life = scene.ledger.life(id, scene.ledger.find(id)->generation);
    return life->owner.kind == OwnerKind::process && !scene.host.is_alive(life->owner.process);
}

}  // namespace

std::string reset_unfounded(const Scene& scene) {
    return walk(scene, [&](const Event& event, const Conversations& known) -> std::string {
        const auto what = wrong_reset(event, known, scene);
        if (what.empty()) return {};
        return fmt::format("session {} ended as {} ({}): {}", event.session_id.text(),
                           name_of(event.end->reason), event.end->evidence, what);
    });
}

std::string deferred_wrongly(const Scene& scene) {
    return walk(scene, [&](const Event& event, const Conversations& known) -> std::string {
        const auto what = wrong_deferral(event, known, scene);
        if (what.empty()) return {};
        return fmt::format("the reset of session {} is told to be held back: {}",
                           event.session_id.text(), what);
    });
}

std::string person_blocked_wrongly(const Scene& scene) {
    for (const auto& said : scene.step.said) {
        const auto* reset = as<Reset>(said.input);
        if (reset == nullptr) continue;
        const bool is_blocked = !said.reply && said.reply.error().code == ErrorCode::blocked;
        if (is_blocked && reset->force) return "it is forced, and blocked";
        if (is_blocked) {
            const auto* facts = std::get_if<BlockedBy>(&said.reply.error().facts);
            if (facts == nullptr || facts->blockers.empty()) return "blocked by nothing";
            for (const auto& blocker : facts->blockers) {
                const auto* process = scene.ledger.find(blocker.process_id);
                const auto* one = process == nullptr
                                      ? nullptr
                                      : scene.ledger.conversations.find(process->session);
                if (one == nullptr) continue;
                const auto& id = blocker.process_id.text();
                if (holds(id, *process, *one, Asks::person, scene) != Belief::no) continue;
                return fmt::format("blocked by process {}, which does nothing", id);
            }
            continue;
        }
        if (!said.reply || reset->force) continue;
        const auto& closed = std::get<ResetReply>(*said.reply).closed;
        const auto& id = closed.session_id;
        const auto* one = scene.ledger.conversations.find(id);
        if (closed.already_ended || one == nullptr || may_get_some(id.text(), scene)) continue;
        const auto held = holders(id.text(), *one, Asks::person, Belief::yes, scene);
        if (held.empty()) continue;
        return fmt::format("session {} is reset over process {}", id.text(), *held.begin());
    }
    return {};
}

std::string reset_undone(const Scene& scene) {
    for (const auto& [id, one] : scene.ledger.conversations.all()) {
        if (!one.open || one.has_turn || one.key.empty() || may_be_ending(SessionId(id), scene)) {
            continue;
        }
        if (!must_be_due(one, scene)) continue;
        if (!holders(id, one, Asks::policy, Belief::maybe, scene).empty()) continue;
        return fmt::format("the reset of session {} is due, nothing holds it, and it is open", id);
    }
    return {};
}

std::string deferral_untold(const Scene& scene) {
    for (const auto& [id, one] : scene.ledger.conversations.all()) {
        if (!one.open || one.has_turn || one.key.empty() || may_be_ending(SessionId(id), scene)) {
            continue;
        }
        if (!must_be_due(one, scene)) continue;
        const auto held = holders(id, one, Asks::policy, Belief::yes, scene);
        if (held.empty() || held != holders(id, one, Asks::policy, Belief::maybe, scene)) continue;
        if (one.told_held_by == held) continue;
        return fmt::format("the reset of session {} is held back by process {}, and not told", id,
                           *held.begin());
    }
    return {};
}

std::string interaction_lost(const Scene& scene) {
    const auto all = scene.host.clocks_between({}, scene.host.elapsed());
    constexpr std::chrono::milliseconds rounding{5};
    for (const auto& [id, one] : scene.ledger.conversations.all()) {
        const auto row = scene.reader->find(SessionId(id));
        if (!row || !*row) continue;  // a bad disk
        const auto at = (*row)->last_interaction_at;
        const auto least = Host::shown_at(one.said_surely, std::ranges::min(all)) - rounding;
        const auto most = Host::shown_at(one.said_at_most, std::ranges::max(all)) + rounding;
        if (one.said_surely.count() > 0 && at < least) {
            return fmt::format("session {}: somebody spoke at {}, on record is {}", id,
                               format_rfc3339(least), format_rfc3339(at));
        }
        if (at <= most) continue;
        return fmt::format("session {}: nobody spoke after {}, on record is {}", id,
                           format_rfc3339(most), format_rfc3339(at));
    }
    return {};
}

std::string suspension_lost(const Scene& scene) {
    for (const auto& [id, one] : scene.ledger.conversations.all()) {
        const auto row = scene.reader->find(SessionId(id));
        if (!row || !*row) continue;  // a bad disk
        const bool is_so = (*row)->suspended_at.has_value();
        const bool fits = is_so ? one.suspended != Belief::no : one.suspended != Belief::yes;
        if (fits) continue;
        return fmt::format("session {}: it was {}suspended, and is on record as {}suspended", id,
                           is_so ? "not " : "", is_so ? "" : "not ");
    }
    return {};
}

}  // namespace knell::sim
