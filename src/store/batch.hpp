#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/event.hpp"
#include "core/session.hpp"

namespace knell {

/// Changes to the record of sessions.  Each names its row and the generation it was decided for:
/// a store writes it only where both still hold (fencing in the WHERE clause) and otherwise fails
/// the whole batch, because then memory and store have come apart.

struct Opened {
    Session session;  // a new row
};

/// The next generation of a session: one that had ended, or a live one that was taken over.
struct Reopened {
    SessionId id;
    Ordinal ordinal = 0;
    Generation generation = 0;  // the new one; the row holds generation - 1
    Owner owner;
    OnOwnerLoss on_owner_loss = OnOwnerLoss::end;
    Fold fold = Fold::shown;
    WallTime at;
    std::optional<Session> past;  // what the store knew, when it had ended
};

struct Ended {
    SessionId id;
    Ordinal ordinal = 0;
    Generation generation = 0;
    End end;
    Fold fold = Fold::shown;
};

struct Appended {
    SessionId id;
    Ordinal ordinal = 0;
    Generation generation = 0;
    std::int64_t first_number = 0;  // of the first message, counted from 1
    std::vector<Message> messages;
    Tally tally;  // after these messages
    WallTime at;
};

struct TurnSet {
    SessionId id;
    Ordinal ordinal = 0;
    Generation generation = 0;
    std::optional<WallTime> turn_since;
    WallTime at;
};

using Change = std::variant<Opened, Reopened, Ended, Appended, TurnSet>;

/// What one transaction writes: all of it or nothing.
struct Batch {
    std::vector<Change> changes;
    std::vector<Event> events;  // in order, seq without holes

    bool empty() const { return changes.empty() && events.empty(); }
    void clear() {
        changes.clear();
        events.clear();
    }
};

}  // namespace knell
