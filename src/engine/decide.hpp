#pragma once

#include <optional>
#include <vector>

#include "core/error.hpp"
#include "engine/command.hpp"
#include "engine/observation.hpp"
#include "engine/question.hpp"
#include "engine/reply.hpp"
#include "engine/state.hpp"
#include "store/batch.hpp"

namespace knell {

/// What follows from a command, an observation or a moment: what must be written before anybody is
/// told.  Events are not numbered yet.
struct Decision {
    std::vector<Change> changes;
    std::vector<Event> events;
    std::vector<Effect> effects;
    /// In memory alone: who showed signs of life, and what was seen of an owner.
    std::vector<SessionId> renewals;
    std::vector<SessionId> interactions;  // to whom something was said
    struct Guarded {
        Ordinal session = 0;
        GuardState state;
    };
    std::vector<Guarded> guarded;  // whose tools' calls count otherwise now
    GuardCounts tools;             // what that adds to the sums
    std::optional<OwnerGone> gone;
    std::optional<OwnerGone> leaving;
    struct Looked {
        ProcessIdentity process;
        bool unclear = false;
    };
    std::optional<Looked> looked;
};

/// The same with the answer to whoever asked for it.
template <typename Answer>
struct Decided : Decision {
    Result<Answer> reply;
};

/// Decides what a command does.  Pure: no clock, no I/O, no randomness; `state` is only read.
/// `past` is what must have been read (needs_of), nullptr when there is no such row.
Decided<Reply> decide(Command&& command, const Session* past, const State& state);
Decided<NotedReply> decide(Observation&& observation, const Session* past, const State& state);

/// Answers a question of what is in memory now.
Result<Reply> answer(const Question& question, const Session* past, const State& state);

/// Decides about a session that `State::next_work` handed out: its owner is gone, its lease or its
/// park window ran out.  `hold`: leases are held, not reaped.
Decision decide_due(const LiveSession& live, bool hold, const State& state);

/// Decides about a background process that nobody vouches for any more.
Decision decide_vouch_over(const RunningProcess& process, const State& state);
/// Decides about a session that `State::next_background_unsure` handed out.
Decision decide_background(const LiveSession& live, const State& state);

/// Decides about a session that `State::next_reset_due` handed out: its reset is due, or was held
/// back and has to be looked at again.
Decision decide_reset(const LiveSession& live, const State& state);

/// A session's last signs of life, for the store.
Change save_seen(const LiveSession& live);
/// When somebody last said something to it.
Change save_interaction(const LiveSession& live, const State& state);

}  // namespace knell
