#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/departure.hpp"
#include "core/guard.hpp"
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
    /// A newer session, open or not, has its key.  Found where the record is at hand.
    bool has_newer_of_key = false;
};

struct Append {
    using Reply = AppendedReply;

    SessionId session_id;
    Generation generation = 0;
    std::vector<Message> messages;
    bool is_automatic = false;  // a machine's doing, such as a cron job's: no interaction
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
    bool is_automatic = false;  // see Append
};

/// A message came in for a key: its session is found, opened again, or opened.
struct Route {
    using Reply = RoutedReply;

    /// Of the session that is opened where there is none: a fresh id, the key, and who will own it.
    /// Where the key's session is opened again, its owner, title and directory come from here.
    Session draft;
    std::string said_by;
    bool is_automatic = false;  // see Append
};

/// Which session is meant: by its id, or by its key the open one, else the newest.
struct SessionName {
    SessionId session_id;  // empty: by the key
    std::string key;
};

/// A person wants a new conversation.
struct Reset {
    using Reply = ResetReply;

    SessionName name;
    bool force = false;  // whatever still works
    std::string said_by;
};

/// The next message is to begin a new conversation.
struct Suspend {
    using Reply = SuspendedReply;

    SessionName name;
    std::string why;
    std::string said_by;
};

/// A person wants to go on in two ways: a child with what was said so far.
struct Branch {
    using Reply = BranchedReply;

    SessionId session_id;
    Generation generation = 0;
    SessionId child_id;      // fresh
    bool keep_open = false;  // the parent goes on too, and keeps its key
    std::string title{};     // of the child; "": as the parent
    std::string said_by{};
};

/// A summary was made of what was said up to a message, or none could be: a child goes on from it
/// and from what was said since.
struct Compress {
    using Reply = CompressedReply;

    SessionId session_id;
    Generation generation = 0;
    SessionId child_id;    // fresh
    std::string summary;   // "": there is none, the child goes on from the last messages alone
    std::string provider;  // who made it
    std::int64_t kept_after = 0;  // messages with a higher number go on in the child
    Tally before;                 // of the messages up to that one
    std::string why_no_summary{};
    std::string said_by{};
    bool between_turns = false;  // not while one is on: nobody asked for it, and it can wait
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

/// How calls of an agent's tools went, in the order in which they ended.
struct ReportTools {
    using Reply = ToolsReportedReply;

    SessionId session_id;  // of all of them; empty: each names its own
    Generation generation = 0;
    struct Report {
        ToolReport report;
        SessionId session_id{};
        Generation generation = 0;
    };
    std::vector<Report> reports;
};
/// A tool is about to be called: may it be?
struct CheckTool {
    using Reply = ToolCheckedReply;

    SessionId session_id;
    Generation generation = 0;
    ToolCall call;
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

using Command = std::variant<Create, Resume, Route, Append, Close, Reset, Suspend, Branch, Compress,
                             Turn, Label, Heartbeat, Attach, Detach, RecordProcess, StopProcess,
                             VouchProcess, ReportTools, CheckTool>;

}  // namespace knell
