#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace knell::mcp {

/// A revision of the protocol, and what of it matters to us.
struct ProtocolVersion {
    std::string_view name;
    bool by_handshake = true;  // agreed on once, by `initialize`; later ones are named by each call
    bool batches = false;
    bool annotations = false;  // hints about tools
    bool structured = false;   // titles, and results as objects beside their text
};

/// The oldest first.  Revisions are dated, so that their names are in order.
inline constexpr std::array<ProtocolVersion, 5> protocol_versions{{
    {.name = "2024-11-05"},
    {.name = "2025-03-26", .batches = true, .annotations = true},
    {.name = "2025-06-18", .annotations = true, .structured = true},
    {.name = "2025-11-25", .annotations = true, .structured = true},
    {.name = "2026-07-28", .by_handshake = false, .annotations = true, .structured = true},
}};

/// nullptr when it is none of ours.
constexpr const ProtocolVersion* find_version(std::string_view name) {
    const auto* found = std::ranges::find(protocol_versions, name, &ProtocolVersion::name);
    return found == protocol_versions.end() ? nullptr : found;
}

/// What `initialize` agrees on with a client that asks for one we do not know.
inline constexpr const ProtocolVersion& newest_by_handshake = protocol_versions[3];
static_assert(newest_by_handshake.by_handshake);

}  // namespace knell::mcp
