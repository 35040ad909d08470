#pragma once

#include <string>
#include <string_view>

#include "core/event.hpp"

namespace knell::wire {

/// `to_json(event, node_id)` as text, without the object in between: followers of the log are sent
/// hundreds of thousands a second.
void append_event(std::string& out, const Event& event, std::string_view node_id);

/// An event that never happened, under an id of its own and marked as a test.
std::string test_event_text(const Event& event, std::string_view node_id, std::string_view id);

/// What a subscriber is sent, one line each, newline included.
void append_event_line(std::string& out, const Event& event, std::string_view node_id);
/// Events `from` to `to` are no longer kept.
void append_gap_line(std::string& out, Seq from, Seq to);

}  // namespace knell::wire
