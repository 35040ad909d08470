#include "net/http/auth_throttle.hpp"

#include <algorithm>

namespace knell::net::http {

namespace {

using namespace std::chrono_literals;

/// A person who pastes the wrong token does not notice.
constexpr std::size_t free_failures = 3;
constexpr std::chrono::milliseconds first_delay = 100ms;
constexpr std::chrono::milliseconds longest_delay = 5s;
/// Without a failure for so long, an address begins anew.
constexpr std::chrono::nanoseconds forget_after = 10min;

std::chrono::milliseconds delay_after(std::size_t failures) {
    if (failures <= free_failures) return 0ms;
    const auto doublings = std::min<std::size_t>(failures - free_failures - 1, 10);
    return std::min(longest_delay, first_delay * (1 << doublings));
}

}  // namespace

std::chrono::milliseconds AuthThrottle::failed(const std::string& address, SteadyTime now) {
    const auto found = by_address_.find(address);
    if (found != by_address_.end()) {
        entries_.splice(entries_.begin(), entries_, found->second);
    } else {
        if (entries_.size() >= addresses_max_) {
            by_address_.erase(entries_.back().address);
            entries_.pop_back();
        }
        entries_.push_front({.address = address, .failures = 0, .last = now});
        by_address_.emplace(entries_.front().address, entries_.begin());
    }
    auto& entry = entries_.front();
    if (now - entry.last > forget_after) entry.failures = 0;
    ++entry.failures;
    entry.last = now;
    return delay_after(entry.failures);
}

}  // namespace knell::net::http
