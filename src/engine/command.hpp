#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "core/departure.hpp"
#include "core/event.hpp"
#include "core/session.hpp"
#include "store/delivery.hpp"

namespace knell {

/// What may be asked of the engine.  `said_by` says who asked, for the evidence.  `at` is the time
/// of a call that was spooled while no daemon ran; without it the call happened now.

struct Close {
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
    SessionId session_id;
    Owner owner;
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
    SessionId session_id;
    Generation generation = 0;
    std::vector<Message> messages;
};

struct Turn {
    SessionId session_id;
    Generation generation = 0;
    bool on = false;
};

/// What a person writes on a session, open or ended; what is not given stays.
struct Label {
    SessionId session_id;
    std::optional<std::string> title;
    std::optional<bool> pinned;
};

/// Signs of life of many sessions at once.
struct Heartbeat {
    struct Beat {
        SessionId session_id;
        Generation generation = 0;
    };
    std::vector<Beat> beats;
};

/// What the observers have to say about a process that owns sessions.
struct OwnerGone {
    ProcessIdentity process;
    Departure departure;
    std::vector<FoundLeftovers> found;
    bool searched = false;  // leftovers were looked for
};
struct OwnerUnknown {
    ProcessIdentity process;
    std::string why;
};
struct OwnerAlive {
    ProcessIdentity process;
};

/// What became of the leftovers of a generation that has ended.
struct SettleLeftovers {
    SessionId session_id;
    Generation generation = 0;
    std::vector<Leftover> leftovers;  // those whose fate was open
};

/// What is known in memory of one session, for `session.why`.
struct Inspect {
    SessionId session_id;
};

/// Every process that owns open sessions, for a sweep.
struct Survey {
    Ordinal after = 0;  // name sessions that were opened after this one
};

/// Something everybody may hear that is about no session: the daemon came up or goes, or a person
/// should know (`notice`).
struct Announce {
    EventType type = EventType::notice;
    std::string detail;
};

/// How far subscribers are, and what they could not be given yet.  Goes the way of all writes.
struct SaveDeliveries {
    std::vector<DeliveryChange> changes;
};

using Command =
    std::variant<Create, Resume, Append, Close, Turn, Label, Heartbeat, OwnerGone, OwnerUnknown,
                 OwnerAlive, SettleLeftovers, Inspect, Survey, Announce, SaveDeliveries>;

/// The session a command is about, or nullptr when it is not about one.
const SessionId* subject_of(const Command& command);
/// What must be read from the store before a command can be decided.
enum class Needs : std::uint8_t {
    nothing,  // it is about no session, or one that is known to be new
    past,     // the row of its subject, unless that is open: then memory has what matters
    row,      // the row of its subject, open or not, as the last transaction left it
};
Needs needs_of(const Command& command);

}  // namespace knell
