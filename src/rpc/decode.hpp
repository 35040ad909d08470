#pragma once

#include "core/error.hpp"
#include "engine/command.hpp"
#include "rpc/backend.hpp"
#include "rpc/caller.hpp"
#include "rpc/feeds.hpp"
#include "wire/json.hpp"

namespace knell::rpc {

/// Parameters from outside become commands; anything wrong names its field.
Result<Command> decode_create(const JsonObject& params, const Caller& caller, Backend& backend);
Result<Command> decode_resume(const JsonObject& params, const Caller& caller, Backend& backend);
Result<Command> decode_append(const JsonObject& params, const Caller& caller, Backend& backend);
Result<Command> decode_close(const JsonObject& params, const Caller& caller, Backend& backend);
Result<Command> decode_heartbeat(const JsonObject& params, const Caller& caller, Backend& backend);
Result<Command> decode_turn_start(const JsonObject& params, const Caller& caller, Backend& backend);
Result<Command> decode_turn_end(const JsonObject& params, const Caller& caller, Backend& backend);

Result<SessionQuery> decode_list(const JsonObject& params);
Result<EventQuery> decode_events(const JsonObject& params);
Result<Subscription> decode_subscription(const JsonObject& params);

/// A call that was spooled while no daemon ran: its owner may be dead by now and is taken as
/// recorded, its time is the recorded one.
Result<Command> decode_spooled(std::string_view method, const JsonObject& params, WallTime at,
                               Backend& backend);

}  // namespace knell::rpc
