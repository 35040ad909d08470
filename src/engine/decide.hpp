#pragma once

#include <variant>

#include "core/error.hpp"
#include "engine/command.hpp"
#include "engine/state.hpp"
#include "store/batch.hpp"

namespace knell {

/// What the caller is told once the decision is durable.
struct OpenedReply {
    SessionId session_id;
    Generation generation = 0;
    Status status = Status::idle;
    std::chrono::seconds lease_ttl{0};  // lease owners only
};
struct AppendedReply {
    SessionId session_id;
    Generation generation = 0;
    Tally tally;
};
struct ClosedReply {
    SessionId session_id;
    Generation generation = 0;
    End end;
    bool already_ended = false;
};
struct TurnReply {
    SessionId session_id;
    Generation generation = 0;
    Status status = Status::idle;
    bool changed = false;
};
using Reply = std::variant<OpenedReply, AppendedReply, ClosedReply, TurnReply>;

/// What follows from one command: the reply, and what must be written before it may leave.  Events
/// are not numbered yet.
struct Decision {
    Result<Reply> reply;
    std::vector<Change> changes;
    std::vector<Event> events;
};

/// Decides what a command does.  Pure: no clock, no I/O, no randomness; `state` is only read.
/// `past` is the row of the subject when it is not open, nullptr when there is none.
Decision decide(Command&& command, const Session* past, const State& state, WallTime now);

}  // namespace knell
