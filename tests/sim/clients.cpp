#include "clients.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell::sim {

namespace {

using Kind = rpc::Attachments::Kind;

}  // namespace

void Clients::crash() {
    for (const auto client : connected_) static_cast<void>(registry_.take(client));
    connected_.clear();
    asked_.clear();
    last_ = 0;
    for (auto& [id, session] : looked_at_) let_go(session);
}

ClientId Clients::connect() {
    const auto client = static_cast<ClientId>(++last_);
    connected_.insert(client);
    return client;
}

ClientId Clients::pick(std::uint32_t which) const {
    if (connected_.empty()) return ClientId::none;
    return *std::next(connected_.begin(), static_cast<std::ptrdiff_t>(which % connected_.size()));
}

const LookedAt* Clients::find(const SessionId& id) const {
    const auto found = looked_at_.find(id.text());
    return found == looked_at_.end() ? nullptr : &found->second;
}

// --- as the dispatcher does ---------------------------------------------------------------------

void Clients::ask(const Input& input) {
    if (const auto* attach = as<Attach>(input)) {
        const auto ticket =
            registry_.enter(Kind::look, {attach->client, ""}, stream_, attach->session_id);
        asked_.push_back({input, ticket});
    } else if (const auto* detach = as<Detach>(input)) {
        asked_.push_back(
            {input, registry_.ticket_of(Kind::look, detach->client, detach->session_id)});
    } else if (const auto* turn = as<Turn>(input); turn && turn->client != ClientId::none) {
        const auto ticket =
            registry_.enter(Kind::turn, {turn->client, ""}, stream_, turn->session_id);
        asked_.push_back({input, ticket});
    }
}

void Clients::answer(const Input& input, const Result<Reply>& reply) {
    const auto is_it = [&](const Asked& asked) {
        const auto client_in = [](const Input& one) {
            if (const auto* attach = as<Attach>(one)) return attach->client;
            if (const auto* detach = as<Detach>(one)) return detach->client;
            const auto* turn = as<Turn>(one);
            return turn == nullptr ? ClientId::none : turn->client;
        };
        return client_in(asked.input) == client_in(input) &&
               *subject_of(asked.input) == *subject_of(input) &&
               std::get<Command>(asked.input).index() == std::get<Command>(input).index();
    };
    const auto* command = std::get_if<Command>(&input);
    if (command == nullptr) return;
    const auto found = std::ranges::find_if(asked_, is_it);
    if (found == asked_.end()) return;
    const auto ticket = found->ticket;
    asked_.erase(found);
    if (const auto* attach = as<Attach>(input)) {
        if (!reply)
            return registry_.refused(Kind::look, attach->client, attach->session_id, ticket);
        registry_.confirm(Kind::look, attach->client, attach->session_id,
                          std::get<AttachedReply>(*reply).generation);
    } else if (const auto* detach = as<Detach>(input)) {
        if (reply) registry_.left(Kind::look, detach->client, detach->session_id, ticket);
    } else if (const auto* turn = as<Turn>(input)) {
        if (!reply) return registry_.refused(Kind::turn, turn->client, turn->session_id, ticket);
        const auto& turned = std::get<TurnReply>(*reply);
        if (!turned.is_hosted) {
            return registry_.left(Kind::turn, turn->client, turn->session_id, ticket);
        }
        registry_.confirm(Kind::turn, turn->client, turn->session_id, turned.generation);
    }
}

ClientGone Clients::disconnect(ClientId client) {
    connected_.erase(client);
    for (auto& [id, session] : looked_at_) {
        if (session.attached.erase(client) > 0) {
            session.leaving.insert(client);
            grow_empty(session);
        }
        session.turn_of.erase(client);
    }
    auto [sessions, turns] = registry_.take(client);
    return {client, std::move(sessions), std::move(turns)};
}

void Clients::release(const ReleaseClients& ended) {
    static_cast<void>(registry_.release(ended.session_id, ended.generation));
}

// --- the truth ----------------------------------------------------------------------------------

void Clients::grow_empty(LookedAt& session) const {
    if (session.attached.empty()) session.empty_since = ledger_.listened();
}

void Clients::let_go(LookedAt& session) {
    const bool was_empty = session.attached.empty();
    session.attached.clear();
    session.leaving.clear();
    session.turn_of.clear();
    if (!was_empty) grow_empty(session);
}

void Clients::note_all_heard() {
    for (auto& [id, session] : looked_at_) session.leaving.clear();
}

void Clients::note_opened(const OpenedReply& opened) {
    auto& session = looked_at_[opened.session_id.text()];
    const bool goes_on = session.open && opened.generation == session.generation;
    if (goes_on) return;
    // Taken over: whoever looked at it still does, and its turn is over.
    if (session.open) {
        handed_over_.emplace(opened.session_id.text(), opened.generation);
    } else {
        let_go(session);
    }
    session.turn_of.clear();
    session.generation = opened.generation;
    session.open = opened.status != Status::ended;
}

void Clients::note_closed(const SessionId& id, std::optional<Generation> generation) {
    auto& session = looked_at_[id.text()];
    if (generation && session.generation > *generation) return;
    let_go(session);
    session.open = false;
}

void Clients::note_said(const Said& said) {
    if (!said.reply) return;
    if (const auto* opened = std::get_if<OpenedReply>(&*said.reply)) {
        note_opened(*opened);
    } else if (const auto* routed = std::get_if<RoutedReply>(&*said.reply)) {
        if (routed->auto_reset) note_closed(routed->auto_reset->prior, std::nullopt);
        note_opened(routed->session);
    } else if (const auto* closed = std::get_if<ClosedReply>(&*said.reply)) {
        note_closed(closed->session_id, closed->generation);
    } else if (const auto* reset = std::get_if<ResetReply>(&*said.reply)) {
        note_closed(reset->closed.session_id, reset->closed.generation);
    } else if (const auto* branched = std::get_if<BranchedReply>(&*said.reply)) {
        if (branched->parent)
            note_closed(branched->parent->session_id, branched->parent->generation);
        note_opened(branched->child);
    } else if (const auto* compressed = std::get_if<CompressedReply>(&*said.reply)) {
        note_closed(as<Compress>(said.input)->session_id, std::nullopt);
        note_opened(compressed->child);
    } else if (const auto* attach = as<Attach>(said.input)) {
        // It may have hung up before it was heard: then that is heard next.
        auto& session = looked_at_[attach->session_id.text()];
        (is_connected(attach->client) ? session.attached : session.leaving).insert(attach->client);
        session.open = session.has_come = true;
    } else if (const auto* detach = as<Detach>(said.input)) {
        auto& session = looked_at_[detach->session_id.text()];
        const bool was_there = session.attached.erase(detach->client) > 0;
        session.leaving.erase(detach->client);
        if (was_there) grow_empty(session);
    } else if (const auto* turn = as<Turn>(said.input)) {
        auto& session = looked_at_[turn->session_id.text()];
        const auto& turned = std::get<TurnReply>(*said.reply);
        if (!turn->on || turned.changed) session.turn_of.clear();
        if (turn->on && is_connected(turn->client)) session.turn_of.insert(turn->client);
    } else if (const auto* gone = as<ClientGone>(said.input)) {
        for (auto& [id, session] : looked_at_) session.leaving.erase(gone->client);
    }
}

void Clients::note_event(const Event& event, bool by_former) {
    if (event.session_id.empty()) return;
    auto& session = looked_at_[event.session_id.text()];
    const auto wrong = [&](std::string_view what) {
        wrongly_told_ =
            fmt::format("session {}, event {}: {}", event.session_id.text(), event.seq, what);
    };
    if (event.type == EventType::session_attach) {
        if (session.told.value_or(false))
            wrong("the first client came, though one was there before");
        if (!session.has_come && !by_former) {
            wrong("a client came, and nobody did");
        }
        session.told = true;
    } else if (event.type == EventType::session_detach) {
        if (!session.told.value_or(true)) wrong("the last client has gone, though none had come");
        if (!session.attached.empty()) wrong("the last client has gone, though one is there");
        const auto gone_for = ledger_.listened() - session.empty_since;
        if (!by_former && gone_for < limits::detach_told_after) {
            wrong("the last client has gone, but may come back");
        }
        session.told = false;
    } else if (event.type == EventType::session_start) {
        const bool stays = handed_over_.contains({event.session_id.text(), event.generation});
        if (by_former) session.told.reset();
        if (!stays && !by_former) session.told = false;
        session.generation = std::max(session.generation, event.generation);
    }
}

void Clients::note(const StepFacts& step) {
    wrongly_told_.clear();
    handed_over_.clear();
    for (auto& [id, session] : looked_at_) session.has_come = session.ended_while_held = false;
    for (const auto& said : step.said) note_said(said);
    std::map<std::string, bool> is_open;
    for (const auto& event : step.told) {
        note_event(event, step.by_former || step.by_start);
        if (event.type == EventType::session_start) is_open[event.session_id.text()] = true;
        if (event.type == EventType::session_end) is_open[event.session_id.text()] = false;
    }
    for (const auto& [id, open] : is_open) {
        auto& session = looked_at_[id];
        session.open = open;
        if (open) continue;
        session.ended_while_held = !session.attached.empty() || !session.turn_of.empty();
        let_go(session);
        session.told = false;
    }
}

}  // namespace knell::sim
