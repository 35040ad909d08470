#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/rendered_event.hpp"

namespace knell {

/// Shared by all subscribers that are to get it.
using RenderedEventRef = std::shared_ptr<const RenderedEvent>;

/// How one attempt to deliver went.
struct Outcome {
    enum class Kind : std::uint8_t {
        delivered,
        failed,  // to be tried again
        gone     // the receiver says: never again (410)
    };
    Kind kind = Kind::failed;
    std::string what;    // for people, on one line: "HTTP 503", "exit 1: no such host"
    std::string output;  // of a hook, at most `limits::hook_output_bytes_max`
    std::optional<std::chrono::seconds> retry_after;  // the receiver asked to wait so long
};

/// Names one attempt among all that are under way.
using AttemptId = std::uint64_t;

struct Finished {
    AttemptId attempt = 0;
    Outcome outcome;
};

}  // namespace knell
