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

/// What observers say about owners; see decide_owner.cpp.
Decision decide_on(OwnerGone&& gone, const Session* past, const State& state);
Decision decide_on(OwnerUnknown&& unknown, const Session* past, const State& state);
Decision decide_on(OwnerAlive&& alive, const Session* past, const State& state);
Decision decide_on(SettleLeftovers&& settle, const Session* past, const State& state);

}  // namespace knell
