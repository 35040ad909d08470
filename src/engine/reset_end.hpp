#pragma once

#include "engine/end_events.hpp"
#include "reset/reset_policy.hpp"

namespace knell {

/// A conversation is over and the next one begins, now or with the next message.

/// Why a session is reset, in the word that a client is told: idle, daily or suspended.
std::string_view reset_word(std::optional<ResetKind> kind);

/// By policy: what is due, since when, and that nothing holds it.
End end_by_policy(EndPath path, const LiveSession& live, std::optional<ResetKind> kind,
                  const State& state);

/// Ends it so that what it runs is dealt with as its policy says: handed to the successor (`keep`,
/// if there is one in this decision; else when it is opened), told of in a notice, or stopped.
const End& end_by_reset(Decision& decision, EndPath path, const LiveSession& live, End end,
                        const SessionId& successor, const State& state);

/// The same for what session `id` still runs, which ended before for another reason: nothing is
/// told of that one any more, so `notice`, which is about its successor, says also what is stopped.
void settle_processes_of_ended(Decision& decision, Event notice, const SessionId& id,
                               const ResetPolicy& policy, const State& state);

/// It was to be reset when it is opened again in this decision, and what runs in it holds that:
/// told of its new generation.
void tell_deferred_of_reopened(Decision& decision, ResetKind kind, const ResetPolicy& policy,
                               std::vector<Blocker> blockers);
/// A reset is due and waits for these processes: on record, and told unless it was.
void defer_reset(Decision& decision, const LiveSession& live, ResetKind kind,
                 std::vector<Blocker> blockers, const State& state);
/// Told alone.
void tell_deferred(Decision& decision, const LiveSession& live, ResetKind kind,
                   std::vector<Blocker> blockers, const State& state);
/// It waits no longer.
void let_go_of_reset(Decision& decision, const LiveSession& live);

/// What runs in a session goes on as that one's, which is open once this is decided.
void hand_processes_over(Decision& decision, const SessionId& from, const SessionId& to,
                         Generation generation, const State& state);

}  // namespace knell
