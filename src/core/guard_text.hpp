#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/guard.hpp"

namespace knell {

/// What a stranger wrote, on one line and no longer than that, fit to be read by an agent or shown
/// on a terminal: nothing in it moves a cursor, breaks a line or turns the direction of writing.
std::string harmless_line(std::string_view text, std::size_t bytes_max);

/// Why a call is refused by an open breaker, for the agent.
std::string refusal_text(const GuardState& state, std::chrono::seconds left);

}  // namespace knell
