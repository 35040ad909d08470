#pragma once

#include <string>
#include <string_view>

#include "wire/envelope.hpp"
#include "wire/event_text.hpp"

namespace knell::wire {

/// How a transport writes what it sends besides answers.  Constants: compared by address, and read
/// on any thread.
struct Framing {
    std::string_view end;  // of each message, and nowhere within one
    void (*append_event)(std::string& out, const Event& event, std::string_view node_id);
    /// Events `from` to `to` are no longer kept.
    void (*append_gap)(std::string& out, Seq from, Seq to);
    /// Why nothing follows.
    void (*append_error)(std::string& out, const Error& why);
};

/// One JSON-RPC object a line.
inline constexpr Framing json_lines{
    .end = "\n",
    .append_event = append_event_line,
    .append_gap = append_gap_line,
    .append_error = [](std::string& out, const Error& why) { out += error_line(why); }};

}  // namespace knell::wire
