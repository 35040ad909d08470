#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/background_process.hpp"
#include "core/blocker.hpp"
#include "core/compression.hpp"
#include "core/guard.hpp"
#include "core/labels.hpp"
#include "core/session.hpp"

namespace knell {

/// What the caller is told once what was decided is durable.  Each command and each question names
/// its own.

struct OpenedReply {
    SessionId session_id;
    Generation generation = 0;
    Status status = Status::idle;
    std::chrono::seconds lease_ttl{0};  // of those that have one
};
/// A reset that is due and held back.
struct HeldReset {
    WallTime since;
    std::optional<WallTime> until;  // when it can be held no longer, as things are
    std::vector<Blocker> blockers;
};
struct RoutedReply {
    OpenedReply session;
    bool is_new = false;
    bool is_resumed = false;  // opened again: its conversation goes on
    /// It takes the place of one that was past its policy.
    struct AutoReset {
        SessionId prior;
        std::string reason;  // idle, daily or suspended
    };
    std::optional<AutoReset> auto_reset;
    std::optional<HeldReset> held;
};
struct SuspendedReply {
    SessionId session_id;
    Generation generation = 0;
    bool changed = false;
};
struct CompressedReply {
    OpenedReply child;
    CompressOutcome outcome = CompressOutcome::compressed;
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
struct ResetReply {
    ClosedReply closed;
    /// It had ended before, and the next message would have gone on with it: not any more.
    bool is_suspended = false;
};
struct BranchedReply {
    OpenedReply child;
    std::optional<ClosedReply> parent;  // none: it goes on too
};
struct TurnReply {
    SessionId session_id;
    Generation generation = 0;
    Status status = Status::idle;
    bool changed = false;
    bool is_hosted = false;  // the session
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
struct AttachedReply {
    SessionId session_id;
    Generation generation = 0;
    Status status = Status::attached;
    std::int32_t attached = 0;  // clients that look at it now
    Seq newest = 0;             // of the log, as it was attached
};
struct DetachedReply {
    SessionId session_id;
    Generation generation = 0;
    std::int32_t attached = 0;
    bool changed = false;
};
struct ProcessReply {
    BackgroundProcess process;  // as it is now
    bool changed = false;
};
struct ToolsReportedReply {
    std::size_t recorded = 0;
    struct Nudge {
        SessionId session_id;
        Stuck stuck;
    };
    std::vector<Nudge> nudges;  // in the order of what they follow
    /// Where each report names its session: whose were not taken, see HeartbeatReply.
    std::vector<SessionId> fenced;
    std::vector<SessionId> ended;
};
struct ToolCheckedReply {
    Permission permission;
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
    std::optional<WallTime> last_interaction_at;
    std::optional<HeldReset> held;
    std::optional<GuardState> guard{};          // where calls of tools were reported
    std::chrono::milliseconds breaker_left{0};  // until it has cooled down
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
using Reply =
    std::variant<OpenedReply, RoutedReply, SuspendedReply, CompressedReply, AppendedReply,
                 ClosedReply, ResetReply, BranchedReply, TurnReply, LabelledReply, HeartbeatReply,
                 AttachedReply, DetachedReply, ProcessReply, ToolsReportedReply, ToolCheckedReply,
                 NotedReply, InspectReply, SurveyReply>;

}  // namespace knell
