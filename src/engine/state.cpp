#include "engine/state.hpp"

#include <ranges>

#include "base/check.hpp"

namespace knell {

void State::adopt(const Session& session) {
    insert(session);
    settle();
}

const LiveSession* State::find(const SessionId& id) const {
    const auto slot = table_.find(id.text());
    return slot == LiveTable::none ? nullptr : &table_.at(slot);
}

void State::apply(const Change& change) {
    struct Door {
        State& state;
        void operator()(const Opened& c) { state.open(c); }
        void operator()(const Reopened& c) { state.open(c); }
        void operator()(const Ended& c) { state.end(c); }
        void operator()(const Appended& c) { state.append(c); }
        void operator()(const TurnSet& c) { state.set_turn(c); }
    };
    std::visit(Door{*this}, change);
}

void State::insert(const Session& session) {
    undo_.push_back({session.id, std::nullopt});
    table_.insert(LiveSession(session, realms_));
    if (session.turn_since) ++running_;
}

LiveSession& State::touch(const SessionId& id) {
    const auto slot = table_.find(id.text());
    CHECK(slot != LiveTable::none);
    undo_.push_back({id, table_.at(slot)});
    return table_.at(slot);
}

void State::open(const Opened& change) {
    CHECK(change.session.ordinal == heads_.ordinal + 1);
    ++heads_.ordinal;
    insert(change.session);
}

void State::open(const Reopened& change) {
    if (change.past) {
        Session session = *change.past;
        session.end.reset();
        session.turn_since.reset();
        session.generation = change.generation;
        session.owner = change.owner;
        session.on_owner_loss = change.on_owner_loss;
        session.last_activity_at = change.at;
        insert(session);
        return;
    }
    auto& live = touch(change.id);
    if (live.turn_since()) --running_;
    live.set_turn(std::nullopt);
    live.set_generation(change.generation);
    live.set_owner(change.owner, change.on_owner_loss, realms_);
    live.set_last_activity(change.at);
}

void State::end(const Ended& change) {
    if (touch(change.id).turn_since()) --running_;
    table_.erase(table_.find(change.id.text()));
    ended_.insert(change.id);
}

void State::append(const Appended& change) {
    auto& live = touch(change.id);
    live.set_tally(change.tally);
    live.set_last_activity(change.at);
}

void State::set_turn(const TurnSet& change) {
    auto& live = touch(change.id);
    if (live.turn_since()) --running_;
    if (change.turn_since) ++running_;
    live.set_turn(change.turn_since);
    live.set_last_activity(change.at);
}

void State::settle() {
    undo_.clear();
    ended_.clear();
    heads_before_ = heads_;
    running_before_ = running_;
}

void State::revert() {
    for (auto& undo : undo_ | std::views::reverse) {
        const auto slot = table_.find(undo.id.text());
        if (slot != LiveTable::none) table_.erase(slot);
        if (undo.before) table_.insert(std::move(*undo.before));
    }
    heads_ = heads_before_;
    running_ = running_before_;
    settle();
}

}  // namespace knell
