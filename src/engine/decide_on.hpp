#pragma once

#include "engine/decide.hpp"

namespace knell {

inline Decision answer(Result<Reply> reply) {
    return {.reply = std::move(reply)};
}
inline Decision refuse(Error error) {
    return answer(std::unexpected(std::move(error)));
}

/// How a session ends whose owner is gone, with what it is known to have left behind; see
/// decide_due.cpp.
struct Departed {
    EndPath path;
    End end;
};
Departed end_of_departed(const LiveSession& live, const OwnerEntry& owner, const State& state);

/// Its owner was seen to go, and the session is about to end by that: its `knell run` is given a
/// moment to say how, and what it left behind is looked for; or its end is not written yet, because
/// words that came with it are decided first or the store refused it.  Nothing otherwise.
/// `was_searched`: whoever asks has looked for that.
std::optional<Departed> departed(const LiveSession& live, const State& state,
                                 bool was_searched = false);

/// What a close that came on that way says of an end.
End end_of(const Close& close, EndPath path, WallTime now);

/// Opening; see decide_open.cpp.
Decision decide_on(Create&& create, const Session* past, const State& state);
Decision decide_on(Resume&& resume, const Session* past, const State& state);

/// What an owner says while its session is open; see decide_write.cpp.
Decision decide_on(Append&& append, const Session* past, const State& state);
Decision decide_on(Turn&& turn, const Session* past, const State& state);
Decision decide_on(Heartbeat&& heartbeat, const Session* past, const State& state);

/// What a person writes on a session; see decide_label.cpp.
Decision decide_on(Label&& label, const Session* row, const State& state);

/// Ending by somebody's word; see decide_close.cpp.
Decision decide_on(Close&& close, const Session* past, const State& state);

/// Questions; see decide_question.cpp.
Decision decide_on(Inspect&& inspect, const Session* past, const State& state);
Decision decide_on(Survey&& survey, const Session* past, const State& state);

/// What observers say about owners; see decide_owner.cpp.
Decision decide_on(OwnerGone&& gone, const Session* past, const State& state);
Decision decide_on(OwnerUnknown&& unknown, const Session* past, const State& state);
Decision decide_on(OwnerAlive&& alive, const Session* past, const State& state);
Decision decide_on(SettleLeftovers&& settle, const Session* past, const State& state);

}  // namespace knell
