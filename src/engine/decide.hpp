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
struct LabelledReply {
    SessionId session_id;
    Generation generation = 0;
    Labels labels;
    bool changed = false;
};
struct HeartbeatReply {
    std::vector<SessionId> renewed;
    std::vector<SessionId> fenced;
    std::vector<SessionId> ended;  // not open: ended, or never there
};
/// To an observer.
struct NotedReply {
    std::size_t sessions = 0;  // that the process owns
};
/// What memory knows of a session beyond its row.
struct InspectReply {
    bool is_open = false;
    std::optional<std::chrono::milliseconds> due_in;
    std::optional<WallTime> last_seen_at;
    std::optional<End> departed;  // its owner was seen to go, and it is about to end by that
};
struct SurveyReply {
    struct Owner {
        ProcessIdentity process;
        std::size_t sessions = 0;
        struct Named {
            SessionId id;
            bool parks = false;  // when its owner is gone, instead of ending
        };
        std::vector<Named> named;  // some of them
        bool is_unknown = false;
    };
    std::vector<Owner> owners;
    std::size_t leases = 0;
    std::size_t parked = 0;
    std::optional<Ordinal> next;  // more than could be named follow this one
};
using Reply = std::variant<OpenedReply, AppendedReply, ClosedReply, TurnReply, LabelledReply,
                           HeartbeatReply, NotedReply, InspectReply, SurveyReply>;

/// What follows from one command: the reply, and what must be written before it may leave.  Events
/// are not numbered yet.
struct Decision {
    Result<Reply> reply;
    std::vector<Change> changes;
    std::vector<Event> events;
    std::vector<DeliveryChange> deliveries;
    std::vector<Effect> effects;
    /// In memory alone: who showed signs of life, and what was seen of an owner.
    std::vector<SessionId> renewals;
    std::optional<OwnerGone> gone;
    std::optional<OwnerGone> leaving;
    struct Looked {
        ProcessIdentity process;
        bool unclear = false;
    };
    std::optional<Looked> looked;
};

/// Decides what a command does.  Pure: no clock, no I/O, no randomness; `state` is only read.
/// `past` is what the command needs to have read (needs_of), nullptr when there is no such row.
Decision decide(Command&& command, const Session* past, const State& state);

/// Decides about a session that `State::next_work` handed out: its owner is gone, its lease or its
/// park window ran out.  `hold`: leases are held, not reaped.
Decision decide_due(const LiveSession& live, bool hold, const State& state);

/// A session's last signs of life, for the store.
Change save_seen(const LiveSession& live);

}  // namespace knell
