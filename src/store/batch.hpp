#pragma once

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "core/background_process.hpp"
#include "core/event.hpp"
#include "core/session.hpp"
#include "store/delivery.hpp"

namespace knell {

/// Changes to the record of sessions.  Each names its row and the generation it was decided for:
/// a store writes it only where both still hold (fencing in the WHERE clause).  Otherwise nothing
/// of the batch is written and the answer is `fenced`: memory and store have come apart.
/// What each does to its row is said once, in store/apply.

struct SessionRef {
    SessionId id;
    Ordinal ordinal = 0;
    Generation generation = 0;
};

struct Opened {
    Session session;  // a new row
    Reaper reaper;    // for memory alone, as the next: see Create
    bool reaper_is_parent = false;
};

/// The next generation of a session: one that had ended, or a live one that was taken over.  Its
/// generation is the new one: the row holds the one before.
struct Reopened : SessionRef {
    Owner owner{};
    std::string title{};  // "": as before, and so the next
    std::string cwd{};
    OnOwnerLoss on_owner_loss = OnOwnerLoss::end;
    std::chrono::seconds park_window{0};
    LeftoversPolicy leftovers = LeftoversPolicy::none;
    Fold fold = Fold::shown;
    WallTime at{};
    std::optional<Session> past{};  // what the store knew, when it had ended
    Reaper reaper{};                // for memory alone, as the next
    bool reaper_is_parent = false;
    std::vector<ProcessIdentity> former_owners{};
    SteadyTime lease_from{};
    /// A message opened it again, then: an interaction.
    bool is_interaction = false;
    bool key_taken = false;  // see Session
};

/// Since when nobody looks at it, if nobody did before.
inline std::optional<WallTime> detached_by(const Reopened& change) {
    if (change.owner.kind != OwnerKind::hosted) return std::nullopt;
    return change.at;
}

struct Ended : SessionRef {
    End end;
    Fold fold = Fold::shown;
    SessionId successor{};  // see Session
};

struct Appended : SessionRef {
    std::int64_t first_number = 0;  // of the first message, counted from 1
    std::vector<Message> messages;
    Tally tally;  // after these messages
    WallTime at;
    bool is_interaction = true;  // false: a machine's doing, as of the next
};

/// Messages of another session come behind those of this one, which was opened in the same batch;
/// they are the same in all but their numbers.
struct MessagesCopied : SessionRef {
    Ordinal from = 0;               // the row of the session they are of
    std::int64_t after = 0;         // those with a higher number
    std::int64_t first_number = 0;  // of the first of them here
    Tally tally;                    // after these messages
};

struct TurnSet : SessionRef {
    std::optional<WallTime> turn_since;
    WallTime at;
    /// Of a hosted session: see Seen.
    std::optional<SteadyTime> lease_from{};
    ClientId client = ClientId::none;  // for memory alone, as the next: see Turn
    std::chrono::seconds window{0};
    bool is_interaction = true;
};

/// One that nobody looks at was not idle before its turn ended.
inline std::optional<WallTime> detached_after(const TurnSet& change,
                                              std::optional<WallTime> since) {
    if (!since || change.turn_since) return since;
    return std::max(*since, change.at);
}

/// Which clients look at a session.
struct AttachmentSet : SessionRef {
    std::int32_t attached = 0;
    std::optional<WallTime> detached_since;
    bool told = false;  // see Session
    /// Of a hosted session whose window begins anew: see Seen.
    std::optional<SteadyTime> lease_from;
    ClientId joined = ClientId::none;  // for memory alone, as the next
    ClientId left = ClientId::none;
};

/// What is uncertain about a live session, or no longer.
struct LivenessMarked : SessionRef {
    std::optional<WallTime> unknown_since;
    std::optional<WallTime> stalled_since;
};

/// Its owner is gone and the session waits for the next one.
struct Parked : SessionRef {
    WallTime since;
    SteadyTime lease_from;
    WallTime before{};  // see Session, as the next
    std::string why{};
};

/// Last signs of life, flushed now and then; never one row a beat.
struct Seen : SessionRef {
    WallTime at;
    /// Its lease runs from there: said when it must not be forgotten by the next daemon.
    std::optional<SteadyTime> lease_from{};
    /// For memory alone: one of those who were there for its turn is gone.
    ClientId turn_client_left = ClientId::none;
};

/// Somebody said something to it: the last of what came since it was last written down.
struct Interacted : SessionRef {
    WallTime at;
};

/// The next message begins a new conversation.  Open or ended.
struct Suspended : SessionRef {
    WallTime at;
    std::string why;
};

/// A newer session has its key from now on, for good.
struct KeyTaken : SessionRef {};

/// Its reset is due and held back by these processes; without a time: no longer.
struct ResetHeld : SessionRef {
    std::optional<WallTime> since;
    std::vector<ProcessId> by;
    /// For memory alone: when the first of them can hold it no longer.
    std::optional<WallTime> look_again_at{};
};

/// A person's labels on a session, open or ended.
struct Labelled : SessionRef {
    Labels labels;
    Fold fold = Fold::shown;
};

/// What became of the leftovers of a session that has ended.
struct LeftoversSettled : SessionRef {
    std::vector<Leftover> leftovers;  // all of them, in place of those in the row
};

/// Whether background work keeps it.
struct BackgroundSet : SessionRef {
    std::optional<WallTime> since;
    WallTime at;  // now
    /// Of a hosted session whose window begins anew: see Seen.
    std::optional<SteadyTime> lease_from;
};

/// Nor before its background work was done.
inline std::optional<WallTime> detached_after(const BackgroundSet& change,
                                              std::optional<WallTime> since) {
    if (!since || change.since) return since;
    return std::max(*since, change.at);
}

/// Changes to the record of background processes.  A row is changed only while it has no exit;
/// otherwise the answer is `fenced`, as above.
struct ProcessRef {
    std::int64_t number = 0;
    ProcessId id;
};
struct ProcessOpened {
    BackgroundProcess process;  // a new row
};
struct ProcessEnded : ProcessRef {
    ProcessExit exit;
};
struct ProcessMarked : ProcessRef {
    ActivityFacts activity;
    std::optional<WallTime> stale_since;
};
struct ProcessVouched : ProcessRef {
    std::optional<WallTime> until;
};
/// Without a time: it was asked for and could not be done, and `by` says by whom and why.
struct ProcessStopAsked : ProcessRef {
    std::optional<WallTime> at;
    std::string by;
};

/// It belongs to another session from now on, which goes on where its own was reset.
struct ProcessHandedOver : ProcessRef {
    SessionId session_id;
    Generation generation = 0;
};

using Change =
    std::variant<Opened, Reopened, Ended, Appended, MessagesCopied, TurnSet, LivenessMarked, Parked,
                 Seen, Interacted, Suspended, KeyTaken, ResetHeld, LeftoversSettled, Labelled,
                 AttachmentSet, BackgroundSet, ProcessOpened, ProcessEnded, ProcessMarked,
                 ProcessVouched, ProcessStopAsked, ProcessHandedOver>;

/// A daemon's word on until when it would have seen any of its owners go, by the clock on the wall
/// and by that of a boot: on the same boot the two together show whether the first was set since.
struct LastWord {
    WallTime at;
    std::string boot_id;  // "": not known
    SteadyTime boot;

    friend bool operator==(const LastWord&, const LastWord&) = default;
};

/// What one transaction writes: all of it or nothing.
struct Batch {
    std::vector<Change> changes;
    std::vector<Event> events;  // in order, seq without holes
    std::vector<DeliveryChange> deliveries;
    /// What a later daemon may give as a lower bound.
    std::optional<LastWord> last_word;
    /// So much time have daemons listened by now, all of them together.
    std::optional<SteadyTime> listened;
    /// A daemon began: once, with its first batch.  Those that nobody's lease remembers go.
    struct Life {
        SteadyTime began;
        SteadyTime forget_until;
    };
    std::optional<Life> life;

    bool empty() const {
        return changes.empty() && events.empty() && deliveries.empty() && !last_word && !listened;
    }
    void clear() {
        changes.clear();
        events.clear();
        deliveries.clear();
        last_word.reset();
        listened.reset();
        life.reset();
    }
};

}  // namespace knell
