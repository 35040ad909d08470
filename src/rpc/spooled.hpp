#pragma once

#include "core/error.hpp"
#include "engine/command.hpp"
#include "rpc/backend.hpp"
#include "wire/json.hpp"

/// Calls that were written down while no daemon ran.
namespace knell::rpc {

/// Its owner may be dead by now and is taken as recorded, its time is the recorded one.
Result<Command> decode_spooled(std::string_view method, const JsonObject& params, WallTime at,
                               Surroundings& here);

/// In the files of their methods.
Result<Command> read_spooled_create(const JsonObject& params, WallTime at, Surroundings& here);
Result<Command> read_spooled_close(const JsonObject& params, WallTime at, Surroundings& here);

}  // namespace knell::rpc
