#include "store/apply.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.hpp"

namespace knell {

namespace {

enum class Stands : std::uint8_t { open, ended, either };

/// In what state a change finds its row, and in which generation.
struct Expected {
    Stands stands = Stands::open;
    Generation generation = 0;
};

Expected expected_by(const Reopened& change) {
    return {Stands::either, change.generation - 1};
}
Expected expected_by(const Labelled& change) {
    return {Stands::either, change.generation};
}
Expected expected_by(const Suspended& change) {
    return {Stands::either, change.generation};
}
Expected expected_by(const LeftoversSettled& change) {
    return {Stands::ended, change.generation};
}
Expected expected_by(const SessionRef& change) {
    return {Stands::open, change.generation};
}

std::string describe(Generation generation, Stands stands) {
    switch (stands) {
        case Stands::open:
            return fmt::format("generation {}, open", generation);
        case Stands::ended:
            return fmt::format("generation {}, ended", generation);
        case Stands::either:
            break;
    }
    return fmt::format("generation {}", generation);
}

void clear_status(Session& row) {
    row.turn_since.reset();
    row.unknown_since.reset();
    row.stalled_since.reset();
    row.parked_since.reset();
    row.parked_before.reset();
    row.park_why.clear();
}

void clear_clients(Session& row) {
    row.attached = 0;
    row.detached_since.reset();
    row.attach_told = false;
}

void clear_held_reset(Session& row) {
    row.reset_held_since.reset();
    row.reset_held_by.clear();
}

/// Whoever acts is seen.
void act(Session& row, WallTime at, bool is_interaction) {
    row.last_activity_at = row.last_seen_at = at;
    if (is_interaction) row.last_interaction_at = at;
}

struct Apply {
    Session& row;

    void operator()(const Opened& change) { row = change.session; }
    void operator()(const Reopened& change) {
        row.generation = change.generation;
        row.owner = change.owner;
        if (!change.title.empty()) row.title = change.title;
        if (!change.cwd.empty()) row.cwd = change.cwd;
        row.on_owner_loss = change.on_owner_loss;
        row.park_window = change.park_window;
        row.leftovers = change.leftovers;
        row.former_owners = change.former_owners;
        row.lease_from = change.lease_from;
        row.key_taken = change.key_taken;
        act(row, change.at, change.is_interaction);
        clear_status(row);
        clear_held_reset(row);
        row.background_since.reset();  // said anew, if they are still at it
        row.detached_since = row.attached == 0 ? detached_by(change) : std::nullopt;
        row.end.reset();
        row.successor_id = {};
    }
    void operator()(const Ended& change) {
        row.end = change.end;
        row.successor_id = change.successor;
        clear_status(row);
        row.background_since.reset();
        clear_clients(row);
        // A suspended one stays so: its conversation is not gone on with.
        clear_held_reset(row);
    }
    void operator()(const Appended& change) {
        row.tally = change.tally;
        act(row, change.at, change.is_interaction);
    }
    void operator()(const MessagesCopied& change) { row.tally = change.tally; }
    void operator()(const TurnSet& change) {
        if (change.turn_since && !row.turn_since) ++row.turns;  // or somebody took it over
        row.turn_since = change.turn_since;
        row.detached_since = detached_after(change, row.detached_since);
        if (change.lease_from) row.lease_from = change.lease_from;
        act(row, change.at, change.is_interaction);
    }
    void operator()(const AttachmentSet& change) {
        row.attached = change.attached;
        row.detached_since = change.detached_since;
        row.attach_told = change.told;
        if (change.lease_from) row.lease_from = change.lease_from;
    }
    void operator()(const LivenessMarked& change) {
        row.unknown_since = change.unknown_since;
        row.stalled_since = change.stalled_since;
    }
    void operator()(const Parked& change) {
        clear_status(row);
        row.parked_since = change.since;
        row.parked_before = change.before;
        row.park_why = change.why;
        row.lease_from = change.lease_from;
    }
    void operator()(const Seen& change) {
        row.last_seen_at = change.at;
        if (change.lease_from) row.lease_from = change.lease_from;
    }
    void operator()(const Interacted& change) {
        row.last_interaction_at = change.at;
        row.last_activity_at = std::max(row.last_activity_at, change.at);
    }
    void operator()(const Suspended& change) {
        row.suspended_at = change.at;
        row.suspend_why = change.why;
    }
    void operator()(const KeyTaken&) { row.key_taken = true; }
    void operator()(const ResetHeld& change) {
        row.reset_held_since = change.since;
        row.reset_held_by = change.by;
    }
    void operator()(const Labelled& change) {
        row.title = change.labels.title;
        row.pinned = change.labels.pinned;
    }
    void operator()(const LeftoversSettled& change) { row.end->leftovers = change.leftovers; }
    void operator()(const BackgroundSet& change) {
        row.background_since = change.since;
        row.detached_since = detached_after(change, row.detached_since);
        if (change.lease_from) row.lease_from = change.lease_from;
    }
};

struct ApplyToProcess {
    BackgroundProcess& row;

    void operator()(const ProcessOpened& change) { row = change.process; }
    // What it was last seen doing stays: it is evidence.
    void operator()(const ProcessEnded& change) { row.exit = change.exit; }
    void operator()(const ProcessMarked& change) {
        row.activity = change.activity;
        row.stale_since = change.stale_since;
    }
    void operator()(const ProcessVouched& change) { row.vouched_until = change.until; }
    void operator()(const ProcessStopAsked& change) {
        row.stop_asked_at = change.at;
        row.stop_asked_by = change.by;
    }
    void operator()(const ProcessHandedOver& change) {
        row.session_id = change.session_id;
        row.generation = change.generation;
    }
};

/// Visits the changes of one table; those of the other are not `door`'s.
template <typename Door>
void visit_own(Door door, const Change& change) {
    std::visit(
        [&](const auto& c) {
            if constexpr (requires { door(c); }) door(c);
        },
        change);
}

Expected expectation_of(const Change& change) {
    Expected expected;
    visit_own([&](const auto& c) -> decltype(void(expected_by(c))) { expected = expected_by(c); },
              change);
    return expected;
}

std::string describe(const BackgroundProcess* row) {
    if (row == nullptr) return "no such row";
    return fmt::format("process {}, {}", row->id.text(), row->exit ? "exited" : "running");
}

}  // namespace

void apply(Session& row, const Change& change) {
    CHECK(!is_of_process(change));
    visit_own(Apply{row}, change);
}

void apply(BackgroundProcess& row, const Change& change) {
    CHECK(is_of_process(change));
    visit_own(ApplyToProcess{row}, change);
}

const SessionRef* ref_of(const Change& change) {
    struct Row {
        const SessionRef* operator()(const Opened&) { return nullptr; }
        const SessionRef* operator()(const SessionRef& change) { return &change; }
        const SessionRef* operator()(const ProcessOpened&) { return nullptr; }
        const SessionRef* operator()(const ProcessRef&) { return nullptr; }
    };
    return std::visit(Row{}, change);
}

const ProcessRef* process_ref_of(const Change& change) {
    struct Row {
        const ProcessRef* operator()(const ProcessOpened&) { return nullptr; }
        const ProcessRef* operator()(const ProcessRef& change) { return &change; }
        const ProcessRef* operator()(const Opened&) { return nullptr; }
        const ProcessRef* operator()(const SessionRef&) { return nullptr; }
    };
    return std::visit(Row{}, change);
}

bool is_of_process(const Change& change) {
    return std::holds_alternative<ProcessOpened>(change) || process_ref_of(change) != nullptr;
}

bool fits(const Session& row, const Change& change) {
    if (std::holds_alternative<Opened>(change)) return true;
    if (is_of_process(change)) return false;
    const auto expected = expectation_of(change);
    if (row.generation != expected.generation) return false;
    return expected.stands == Stands::either ||
           row.end.has_value() == (expected.stands == Stands::ended);
}

bool fits(const BackgroundProcess& row, const Change& change) {
    if (std::holds_alternative<ProcessOpened>(change)) return true;
    const auto* ref = process_ref_of(change);
    return ref != nullptr && row.number == ref->number && row.id == ref->id && !row.exit;
}

Error conflict_of(const Change& change, const Session* row) {
    const auto expected = expectation_of(change);
    const auto found = row == nullptr
                           ? "no such row"
                           : describe(row->generation, row->end ? Stands::ended : Stands::open);
    return {ErrorCode::fenced,
            fmt::format("the row of session {} was changed by another program (expected {}; found "
                        "{}): nothing was written. Let no other program write to the store, then "
                        "try again",
                        ref_of(change)->id.text(), describe(expected.generation, expected.stands),
                        found),
            {},
            FencedBy{row == nullptr ? 0 : row->generation}};
}

Error conflict_of(const Change& change, const BackgroundProcess* row) {
    const auto* ref = process_ref_of(change);
    CHECK(ref != nullptr);
    return {ErrorCode::fenced,
            fmt::format("row {} of the background processes was changed by another program "
                        "(expected process {}, running; found {}): nothing was written. Let no "
                        "other program write to the store, then try again",
                        ref->number, ref->id.text(), describe(row)),
            {},
            {}};
}

}  // namespace knell
