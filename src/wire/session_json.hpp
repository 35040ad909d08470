#pragma once

#include <string>
#include <string_view>

#include "core/event.hpp"
#include "core/session.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// The objects of the client contract.  A field without a value is left out: missing and null mean
/// the same.
JsonObject to_json(const Session& session);
/// The same as text, without the object in between: a page has a thousand.
void append_session(std::string& out, const Session& session);
JsonObject to_json(const Owner& owner);
JsonObject to_json(const Message& message);
JsonArray to_json(const std::vector<Leftover>& leftovers);
JsonArray to_json(const std::vector<Blocker>& blockers);
JsonObject to_json(const Event& event, std::string_view node_id);

}  // namespace knell::wire
