#pragma once

#include <string_view>

#include "core/error.hpp"
#include "engine/live_session.hpp"
#include "engine/state.hpp"

namespace knell {

/// Why a command is refused, in words that say what to do next.
Error not_found(const SessionId& id);
Error has_ended(const Session& past, std::string_view next_step);
/// Its owner was seen to go; its end is not on record yet.
Error ended_just_now(const LiveSession& live, const End& end, const State& state);
Error owned_by(const LiveSession& live, const State& state);
Error fenced(const SessionId& id, Generation given, Generation current);
/// Somebody who owned an earlier generation.
Error fenced_former(const LiveSession& live, const ProcessIdentity& caller);
/// It is parked: nobody may write to it.
Error unowned(const LiveSession& live);

}  // namespace knell
