#include "core/event.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace knell {

std::string event_id(const Event& event, std::string_view node_id) {
    const auto stable = [&](std::string_view what) {
        auto id = fmt::format("{}_{}_{}", event.session_id.text(), event.generation, what);
        std::ranges::replace(id, '.', '~');
        return id;
    };
    if (event.type == EventType::session_start) return stable("start");
    if (event.type == EventType::session_end) return stable("end");
    return fmt::format("{}_{}", node_id, event.seq);
}

std::int64_t place_of(const Event& event) {
    if (event.type == EventType::session_start) return 0;
    if (event.type == EventType::session_end) return std::numeric_limits<std::int64_t>::max();
    return event.seq;
}

}  // namespace knell
