#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/departure.hpp"
#include "core/limits.hpp"
#include "core/session.hpp"
#include "engine/reply.hpp"

namespace knell {

/// What a client may ask to be done, and what it is told then (`Reply`).  `said_by` says who asked,
/// for the evidence.  `at` is the time of a call that was spooled while no daemon ran; without it
/// the call happened now.

struct Close {
    using Reply = ClosedReply;

    SessionId session_id;
    std::optional<Generation> generation;  // none: whatever is open now, a person's word
    Reason reason = Reason::completed;
    std::string detail;
    std::string said_by;
    std::optional<WallTime> at;
    std::vector<Leftover> leftovers;
    std::optional<ProcessIdentity> caller{};      // who said it, where that is proven
    std::optional<ProcessIdentity> spoken_for{};  // on whose behalf, by the caller's own word
    bool is_over = false;                         // the command was looked at and has ended
    bool by_parent = false;     // the caller is proven to have its end from the kernel
    bool was_searched = false;  // `leftovers` are all there are
};

struct Create {
    using Reply = OpenedReply;

    Session draft;          // ordinal, generation, times and tally are the engine's to fill
    bool fresh_id = false;  // made by us from random bits: no need to look for it in the store
    std::optional<WallTime> at;
    /// It is over already: a life that was spooled whole starts and ends in one decision, before
    /// anybody can find its owner gone.
    std::optional<Close> and_close;
    Reaper reaper;
    bool reaper_is_parent = false;  // of the owner: it will see how the command ends
    /// Its parent is a descendant of its own.  Found where the record is at hand.
    bool is_own_ancestor = false;
};

struct Resume {
    using Reply = OpenedReply;

    SessionId session_id;
    Owner owner;
    /// What it is called and where it works from now on; "": as before.  A title that is no more
    /// than the owner's command gives way to one that somebody chose.
    std::string title{};
    std::string cwd{};
    OnOwnerLoss on_owner_loss = OnOwnerLoss::end;
    std::chrono::seconds park_window{0};
    /// Whether the new owner is one command, too; what the old one was does not matter.
    LeftoversPolicy leftovers = LeftoversPolicy::none;
    bool takeover = false;
    std::string said_by;
    std::optional<WallTime> at;
    std::optional<Close> and_close;
    Reaper reaper;
    bool reaper_is_parent = false;
};

struct Append {
    using Reply = AppendedReply;

    SessionId session_id;
    Generation generation = 0;
    std::vector<Message> messages;
};

struct Turn {
    using Reply = TurnReply;

    SessionId session_id;
    Generation generation = 0;
    bool on = false;
    /// Who began it, where that connection stays: while it does, a hosted session is held.
    ClientId client = ClientId::none;
    /// Without its client a turn holds a hosted session for so long.
    std::chrono::seconds window = limits::turn_window_default;
};

/// A client looks at a session, or no longer.  Twice is not an error.
struct Attach {
    using Reply = AttachedReply;

    SessionId session_id;
    ClientId client = ClientId::none;
};
struct Detach {
    using Reply = DetachedReply;

    SessionId session_id;
    ClientId client = ClientId::none;
};

/// What a person writes on a session, open or ended; what is not given stays.
struct Label {
    using Reply = LabelledReply;

    SessionId session_id;
    std::optional<std::string> title;
    std::optional<bool> pinned;
};

/// Signs of life of many sessions at once.
struct Heartbeat {
    using Reply = HeartbeatReply;

    struct Beat {
        SessionId session_id;
        Generation generation = 0;
    };
    std::vector<Beat> beats;
};

/// A background process is to be on record: one that waits to be let go (started), or one that
/// runs already (registered).
struct RecordProcess {
    using Reply = ProcessReply;

    BackgroundProcess draft;  // number, generation and times are the engine's to fill
    std::size_t per_session_max = limits::processes_per_session_default;
    std::size_t node_max = limits::processes_default;
};
/// Somebody wants it stopped, with everything below it.
struct StopProcess {
    using Reply = ProcessReply;

    ProcessId process_id;
    std::string said_by;
};
/// Until then it counts as work, whatever it seems to do; none: no longer.
struct VouchProcess {
    using Reply = ProcessReply;

    ProcessId process_id;
    std::optional<WallTime> until;
};

using Command = std::variant<Create, Resume, Append, Close, Turn, Label, Heartbeat, Attach, Detach,
                             RecordProcess, StopProcess, VouchProcess>;

}  // namespace knell
