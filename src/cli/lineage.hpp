#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "client/connection.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

/// Steps that are followed, up and down each.
inline constexpr std::size_t lineage_steps_max = 10;

/// The sessions that one came out of and those that went on in its place, as session.show has them.
/// Of one that is not on record any more there is only the id.
struct Lineage {
    std::vector<JsonObject> sessions;  // the oldest first
    std::size_t place = 0;             // of the one it is about
    bool has_older = false;            // than are told here
    bool has_newer = false;
};

/// `session`: as session.show has it.
Result<Lineage> read_lineage(client::Connection& connection, const JsonObject& session);

/// A line for each, deeper than its parent; "" for one that is alone.  Pure.
std::string lineage_text(const Lineage& lineage, const Terminal& terminal, WallTime now);

}  // namespace knell::cli
