#pragma once

#include <string>

#include "core/session.hpp"

namespace knell {

/// One event on its way to a subscriber, in the words of the wire, so that it can be kept and sent
/// again when the log has long let go of it.
struct RenderedEvent {
    Seq seq = 0;
    std::string id;          // stable over attempts: how a receiver knows a duplicate
    std::string type;        // "session:end"
    std::string time;        // RFC 3339
    std::string session_id;  // "": about the daemon itself
    std::string json;        // the event as one JSON object, without a line end

    bool operator==(const RenderedEvent&) const = default;
};

}  // namespace knell
