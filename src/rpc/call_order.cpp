#include "rpc/call_order.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace knell::rpc {

void CallOrder::wait(const Place& place) {
    lines_[place.connection].push_back({place.call, {}});
}

void CallOrder::queue(const Place& place, Work work) {
    lines_[place.connection].push_back({place.call, std::move(work)});
    advance(place.connection);
}

void CallOrder::go_on(const Place& place, Work work) {
    const auto line = lines_.find(place.connection);
    CHECK(line != lines_.end());
    const auto entry = std::ranges::find(line->second, place.call, &Entry::call);
    CHECK(entry != line->second.end() && !entry->work);
    entry->work = std::move(work);
    advance(place.connection);
}

void CallOrder::leave(const Place& place) {
    const auto line = lines_.find(place.connection);
    if (line == lines_.end()) return;
    const auto entry = std::ranges::find(line->second, place.call, &Entry::call);
    if (entry == line->second.end()) return;
    line->second.erase(entry);
    advance(place.connection);
}

void CallOrder::advance(ConnectionId connection) {
    // Looked up anew each time: work may come back here, and change or end the line.
    for (;;) {
        const auto line = lines_.find(connection);
        if (line == lines_.end()) return;
        if (line->second.empty()) {
            lines_.erase(line);
            return;
        }
        if (!line->second.front().work) return;
        auto work = std::move(line->second.front().work);
        line->second.pop_front();
        work();
    }
}

}  // namespace knell::rpc
