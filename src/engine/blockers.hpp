#pragma once

#include <vector>

#include "core/blocker.hpp"
#include "engine/state.hpp"

namespace knell {

/// The background processes of a session that keep it from being reset by policy: those that work
/// and are younger than the policy allows, and those that somebody vouches for.
std::vector<Blocker> blockers_by_policy(const SessionId& session_id, const ResetPolicy& policy,
                                        const State& state);
/// And by a person: whatever works or is vouched for, however old.
std::vector<Blocker> blockers_of_person(const SessionId& session_id, const State& state);
/// All that run, whatever they do.
std::vector<Blocker> running_of(const SessionId& session_id, const State& state);

/// When the first of them can hold a reset no longer; none: there are none.
std::optional<WallTime> first_let_go(const std::vector<Blocker>& blockers);
/// When the last of them can.
std::optional<WallTime> last_let_go(const std::vector<Blocker>& blockers);
/// For the evidence and the log: "p-… (pid 7, make -j8, working for 3 h)".
std::string describe(const std::vector<Blocker>& blockers, WallTime now);

}  // namespace knell
