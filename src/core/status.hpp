#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace knell {

/// Derived from facts, never stored.
enum class Status : std::uint8_t {
    running,
    attached,
    background,
    idle,
    detached,
    stalled,
    unknown,
    ended,
};
inline constexpr std::array<std::string_view, 8> status_names{
    "running", "attached", "background", "idle", "detached", "stalled", "unknown", "ended"};

/// The facts a status is derived from.
struct StatusFacts {
    bool ended = false;
    bool unknown = false;
    bool stalled = false;
    bool turn = false;
    bool attached = false;
    bool background = false;  // a background process of its counts as work
    bool detached = false;    // parked, or hosted without a client
};
Status status_of(const StatusFacts& facts);

}  // namespace knell
