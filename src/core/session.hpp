#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/end.hpp"
#include "core/ids.hpp"
#include "core/owner.hpp"
#include "core/status.hpp"

namespace knell {

/// How a session came out of its parent.
enum class Relation : std::uint8_t { none, compression, branch, subagent, reset };
inline constexpr std::array<std::string_view, 5> relation_names{"", "compression", "branch",
                                                                "subagent", "reset"};

/// Why a session is folded away in lists: by its recorded origin, never by its title's text.
enum class Fold : std::uint8_t { shown, origin, empty };

/// What was said in a session.
struct Message {
    std::string role;
    std::string content;
    std::string tool_name;
    std::int64_t tokens = 0;

    bool operator==(const Message&) const = default;
};

/// Counts kept with the messages, in the same transaction.
struct Tally {
    std::int64_t messages = 0;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;

    bool operator==(const Tally&) const = default;
};

/// Tokens of assistant messages were produced by the model; all others were read by it.  A sum that
/// does not fit stays at the highest there is.
void count(Tally& tally, const Message& message);

/// All that is on record about one session: one row of the store.
struct Session {
    Ordinal ordinal = 0;
    SessionId id;
    std::string key;
    std::string source;
    std::string platform;
    std::string user_id;
    std::string chat_type;  // dm, group ...: what a gateway calls it
    SessionId parent_id;
    Relation relation = Relation::none;
    std::string model;
    std::string title;
    std::string cwd;
    std::string meta;  // a JSON object as text, or empty
    Generation generation = 1;
    Owner owner;
    OnOwnerLoss on_owner_loss = OnOwnerLoss::end;
    std::chrono::seconds park_window{0};  // with OnOwnerLoss::park
    LeftoversPolicy leftovers = LeftoversPolicy::none;
    /// The processes that owned earlier generations, the newest last; only some of the newest.
    std::vector<ProcessIdentity> former_owners;
    WallTime started_at;
    WallTime last_activity_at;
    /// Somebody said something, or had it worked on: what an idle reset counts from.  Nothing that
    /// a machine does by itself is one.
    WallTime last_interaction_at;
    WallTime last_seen_at;  // its owner showed signs of life; flushed about once a minute
    /// Its lease, or its park window, runs from there: in time in which some daemon listened.
    std::optional<SteadyTime> lease_from;
    Tally tally;
    std::int64_t turns = 0;     // that were begun
    std::int32_t attached = 0;  // clients that look at it
    /// Of one that clients may look at and none does: since when.
    std::optional<WallTime> detached_since;
    bool attach_told = false;  // the last that was told of them is session:attach
    bool pinned = false;       // a person wants it kept
    /// A newer one took its key, for good: messages do not come here.
    bool key_taken = false;
    bool summary_lost = false;  // it came out of a compression that had to go on without a summary
    /// The next message begins a new conversation: since when, and why.
    std::optional<WallTime> suspended_at;
    std::string suspend_why;
    /// Its reset is due and held back by these processes.
    std::optional<WallTime> reset_held_since;
    std::vector<ProcessId> reset_held_by;
    /// Since when one of its background processes is work that counts.
    std::optional<WallTime> background_since;
    std::optional<WallTime> turn_since;
    std::optional<WallTime> unknown_since;  // its owner cannot be checked
    std::optional<WallTime> stalled_since;  // late, but provably alive
    std::optional<WallTime> parked_since;   // its owner is gone, the next may claim it
    /// By when that owner was gone, and how it went; not on record of what was parked by a daemon
    /// that did not write it down.
    std::optional<WallTime> parked_before;
    std::string park_why;
    std::optional<End> end;
    SessionId successor_id;  // of one that has ended: the session that goes on in its place

    bool operator==(const Session&) const = default;
};

Status status_of(const Session& session);

/// Whether it counts as live at that time: open, and not a hosted one that has been idle without a
/// client for a while.
bool is_active(const Session& session, WallTime now);

/// What folding is derived from.  Only an end that is usually declared folds an empty session away:
/// a death is news, however little was said before it and whoever tells of it.
struct FoldFacts {
    bool by_machine = false;    // sub-agent or cron, by source or relation
    bool nothing_said = false;  // no message and no title
    std::optional<Reason> ended;
};
Fold fold_of(const FoldFacts& facts);
bool is_by_machine(std::string_view source, Relation relation);
Fold fold_of(const Session& session);

}  // namespace knell
