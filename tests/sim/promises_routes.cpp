// About messages: which session they reach, and in what order conversations follow each other.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"
#include "reset_truth.hpp"

namespace knell::sim {

namespace {

/// What nobody meant to end goes on.
bool is_unmeant(Reason reason) {
    switch (reason) {
        case Reason::completed:
        case Reason::manual_reset:
        case Reason::auto_reset:
        case Reason::idle_expiry:
        case Reason::daily_reset:
        case Reason::compression:
        case Reason::branched:
            return false;
        case Reason::exited:
        case Reason::signaled:
        case Reason::oom_killed:
        case Reason::owner_lost:
        case Reason::host_restart:
        case Reason::reaped:
        case Reason::node_lost:
        case Reason::shutdown:
        case Reason::detached_expiry:
        case Reason::superseded:
        case Reason::imported:
            break;
    }
    return true;
}

const RoutedReply* reply_that_opened(const Event& start, const StepFacts& step) {
    for (const auto& said : step.said) {
        const auto* routed = said.reply ? std::get_if<RoutedReply>(&*said.reply) : nullptr;
        if (routed == nullptr || (!routed->is_new && !routed->is_resumed)) continue;
        const auto& opened = routed->session;
        if (opened.session_id == start.session_id && opened.generation == start.generation) {
            return routed;
        }
    }
    return nullptr;
}

bool ends_in_step(const SessionId& id, const StepFacts& step) {
    return std::ranges::any_of(
        step.told, [&](const Event& event) { return event.end && event.session_id == id; });
}

/// A process of it that holds its reset: surely, or maybe.
std::string holder_of(const SessionId& id, const Conversation& one, Belief least,
                      const Scene& scene) {
    for (const auto& [name, process] : scene.ledger.processes()) {
        if (process.session != id) continue;
        if (holds(name, process, one, Asks::policy, scene) >= least) return name;
    }
    return {};
}

/// A new session for a key whose newest had ended.
std::string wrongly_new(const Event& start, const SessionId& tip, const Conversation& before,
                        const Scene& scene) {
    const auto reason = *before.ended_as;
    const bool is_child = start.relation == Relation::reset && start.parent_id == tip;
    if (reason == Reason::completed) {
        return is_child ? "it goes on from one that was completed" : "";
    }
    if (!is_child) return fmt::format("it is not the child of session {}", tip.text());
    if (!is_unmeant(reason)) return {};
    const bool is_asked = std::ranges::any_of(scene.step.said, [](const Said& said) {
        return as<Suspend>(said.input) != nullptr || as<Reset>(said.input) != nullptr;
    });
    if (before.suspended != Belief::no || is_asked || scene.step.by_former) return {};
    if (!may_be_due(before, {}, scene)) {
        return fmt::format("nobody meant to end session {}", tip.text());
    }
    const auto holder = holder_of(tip, before, Belief::yes, scene);
    return holder.empty() ? "" : fmt::format("process {} holds its reset", holder);
}

/// What whoever sent the message is told of the one before.
std::string wrong_auto_reset(const RoutedReply& reply, const SessionId& tip,
                             const Conversation& before) {
    const auto told = reply.auto_reset ? reply.auto_reset->prior : SessionId();
    const auto reason = *before.ended_as;
    const bool is_policy = reason == Reason::idle_expiry || reason == Reason::daily_reset ||
                           reason == Reason::auto_reset || is_unmeant(reason);
    if (told == (is_policy ? tip : SessionId())) return {};
    return fmt::format("it is told to take the place of session \"{}\"", told.text());
}

std::string wrongly_opened(const Event& start, const Conversations& known, const Scene& scene) {
    if (start.type != EventType::session_start || start.session_key.empty()) return {};
    if (known.opener_of(start, scene.step) != Opener::route) return {};
    const auto* open = known.newest_open(start.session_key);
    if (open != nullptr) return fmt::format("session {} of its key is open", open->first);
    const auto* newest = known.newest(start.session_key);
    if (newest == nullptr) return {};
    const SessionId tip(newest->first);
    const auto& before = newest->second;
    const bool is_just_over = ends_in_step(tip, scene.step);
    if (start.generation == 1) {
        if (auto what = wrongly_new(start, tip, before, scene); !what.empty()) return what;
        const auto* reply = reply_that_opened(start, scene.step);
        const bool is_told = reply != nullptr && before.ended_as != Reason::completed;
        return is_told ? wrong_auto_reset(*reply, tip, before) : "";
    }
    if (start.session_id != tip) return fmt::format("session {} is newer", tip.text());
    if (!is_unmeant(*before.ended_as)) {
        return fmt::format("it was over ({})", name_of(*before.ended_as));
    }
    if (before.suspended == Belief::yes) return "it was suspended";
    if (is_just_over || !must_be_due(before, scene)) return {};
    if (holder_of(tip, before, Belief::maybe, scene).empty()) return "it was past its policy";
    const auto* reply = reply_that_opened(start, scene.step);
    const bool is_untold =
        reply != nullptr && !reply->held && !holder_of(tip, before, Belief::yes, scene).empty();
    return is_untold ? "its reset was due, and nobody is told what holds it" : "";
}

/// The first in its step that has to do with that session or its key.
bool is_first(const Said& said, const SessionId& id, const std::string& key, const Scene& scene) {
    for (const auto& other : scene.step.said) {
        if (&other == &said) return true;
        const auto* subject = subject_of(other.input);
        const auto* named = key_of(other.input);
        const bool is_about =
            (subject != nullptr && *subject == id) || (named != nullptr && *named == key) ||
            as<OwnerGone>(other.input) != nullptr || as<ClientGone>(other.input) != nullptr;
        if (is_about) return false;
    }
    return false;
}

/// A message that went to a session which was open before.
std::string wrongly_reached(const Said& said, const Route& route, const RoutedReply& reply,
                            const Scene& scene) {
    const auto& id = reply.session.session_id;
    const auto* one = scene.ledger.conversations.find(id);
    const auto& key = route.draft.key;
    const auto starts = std::ranges::any_of(scene.step.told, [&](const Event& event) {
        return event.type == EventType::session_start && event.session_key == key;
    });
    if (starts) return {};
    if (one == nullptr || !one->open) return "it is not open";
    if (one->key != key) return "it is another key's";
    if (one->key_taken) return "a newer one took its key";
    const auto* newest = scene.ledger.conversations.newest_open(key);
    if (newest->first != id.text() && !ends_in_step(SessionId(newest->first), scene.step)) {
        return fmt::format("session {} is newer", newest->first);
    }
    if (one->suspended == Belief::yes) return "it was suspended";
    if (reply.held && !may_be_due(*one, {}, scene)) return "its reset is not due";
    if (reply.held && reply.held->blockers.empty()) return "nothing holds its reset";
    if (!is_first(said, id, key, scene) || one->has_turn) return {};
    if (!must_be_due(*one, scene)) return {};
    if (!reply.held) return "its reset was due";
    return {};
}

bool may_be_owned(const std::string& key, const Scene& scene) {
    if (scene.ledger.conversations.newest_open(key) != nullptr) return true;
    return std::ranges::any_of(scene.step.told, [&](const Event& event) {
        return event.type == EventType::session_start && event.session_key == key;
    });
}

/// Of those of a key that are open one has it by the daemon's own word, and it is the right one.
std::string second_of_key(const Conversations& known, const State& state) {
    std::map<std::string, std::string> open;
    for (const auto& [id, one] : known.all()) {
        const auto* live = one.open ? state.find(SessionId(id)) : nullptr;
        if (live == nullptr || one.key.empty()) continue;
        if (live->is_key_taken() && !one.key_taken) {
            return fmt::format("session {} has lost its key {} to nobody", id, one.key);
        }
        if (live->is_key_taken()) continue;
        if (one.key_taken) return fmt::format("a newer one took the key of session {}", id);
        const auto [place, is_first] = open.emplace(one.key, id);
        if (is_first) continue;
        return fmt::format("sessions {} and {} of {} are open", place->second, id, one.key);
    }
    return {};
}

/// A child of a branch or a compression, or of a reset.
std::string misplaced(const Event& start, const Conversations& known) {
    if (start.type != EventType::session_start || start.generation > 1) return {};
    if (start.relation == Relation::none) return {};
    const auto* parent = known.find(start.parent_id);
    const auto whose =
        fmt::format("session {} starts as a {} of session {}", start.session_id.text(),
                    name_in(relation_names, start.relation), start.parent_id.text());
    if (parent == nullptr) return whose + ", which never was";
    const auto* command = known.asked_for(start.session_id);
    const auto* branch = command == nullptr ? nullptr : std::get_if<Branch>(command);
    const bool may_be_open = branch != nullptr && branch->keep_open;
    if (parent->open != may_be_open)
        return whose + (parent->open ? ", which is open" : ", which is not open");
    if (may_be_open) return start.session_key.empty() ? "" : whose + ", and has its key";
    if (start.session_key != parent->key) return whose + ", and has another key";
    const auto reason = *parent->ended_as;
    if (branch != nullptr && reason == Reason::branched) return {};
    if (start.relation == Relation::compression && reason == Reason::compression) return {};
    if (start.relation == Relation::reset && reason != Reason::completed) return {};
    return fmt::format("{}, which ended as {}", whose, name_of(reason));
}

/// What ends for another to go on has that other.
std::string without_successor(const Event& end, const Scene& scene) {
    if (!end.end) return {};
    const auto reason = end.end->reason;
    const bool has_next =
        reason == Reason::auto_reset || reason == Reason::branched || reason == Reason::compression;
    if (!has_next || scene.ledger.may_be_closed(end.session_id, end.generation, reason)) return {};
    const bool goes_on = std::ranges::any_of(scene.step.told, [&](const Event& event) {
        return event.type == EventType::session_start && event.parent_id == end.session_id &&
               event.generation == 1 && event.seq > end.seq;
    });
    if (goes_on) return {};
    return fmt::format("session {} ends as {}, and nothing goes on in its place",
                       end.session_id.text(), name_of(reason));
}

}  // namespace

std::string key_opened_twice(const Scene& scene) {
    if (scene.state == nullptr) return {};
    return second_of_key(scene.ledger.conversations, *scene.state);
}

std::string child_out_of_order(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (auto what = without_successor(event, scene); !what.empty()) return what;
    }
    return walk(scene, misplaced);
}

std::string routed_wrongly(const Scene& scene) {
    for (const auto& said : scene.step.said) {
        const auto* route = as<Route>(said.input);
        if (route == nullptr) continue;
        if (!said.reply) {
            const auto& error = said.reply.error();
            if (error.code == ErrorCode::storage) continue;
            if (error.code == ErrorCode::owned && may_be_owned(route->draft.key, scene)) continue;
            return fmt::format("a message for {} is refused: {}", route->draft.key, error.message);
        }
        const auto& reply = std::get<RoutedReply>(*said.reply);
        if (reply.is_new || reply.is_resumed) continue;
        const auto what = wrongly_reached(said, *route, reply, scene);
        if (what.empty()) continue;
        return fmt::format("a message for {} reaches session {}: {}", route->draft.key,
                           reply.session.session_id.text(), what);
    }
    return walk(scene, [&](const Event& event, const Conversations& known) -> std::string {
        const auto what = wrongly_opened(event, known, scene);
        if (what.empty()) return {};
        return fmt::format("a message for {} opens session {} generation {}: {}", event.session_key,
                           event.session_id.text(), event.generation, what);
    });
}

}  // namespace knell::sim
