#pragma once

#include "wire/framing.hpp"

namespace knell::net::http {

/// Server-sent events: `id` is the number of the event, `event` its type, `data` the object that
/// events.read gives.  What is no longer kept is told as `gap`, under the number of its last event,
/// so that a client that comes back is not told again; why nothing follows as `problem`.
extern const wire::Framing sse_framing;

/// Shows that the connection is alive; readers skip it.
inline constexpr std::string_view sse_comment = ": alive\n\n";

}  // namespace knell::net::http
