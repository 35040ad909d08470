#include "core/event.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace knell {

std::string event_id(const Event& event, std::string_view node_id) {
    const bool start = event.type == EventType::session_start;
    const bool stable = start || event.type == EventType::session_end;
    const fmt::format_int number(stable ? event.generation : event.seq);
    std::string id;
    id += stable ? std::string_view(event.session_id.text()) : node_id;
    if (stable) std::ranges::replace(id, '.', '~');
    id += '_';
    id.append(number.data(), number.size());
    if (stable) id += start ? "_start" : "_end";
    return id;
}

std::int64_t place_of(const Event& event) {
    if (event.type == EventType::session_start) return 0;
    constexpr auto of_the_end = std::int64_t{1} << 62U;
    if (event.type == EventType::session_end) return of_the_end;
    return event.after_end ? of_the_end + event.seq : event.seq;
}

}  // namespace knell
