#include "platform/poller.hpp"

#include <algorithm>
#include <limits>

#include <sys/eventfd.h>

#include "base/check.hpp"

namespace knell {

namespace {

/// Rounded up, or the last part of a millisecond would be spun through.  -1: for ever.
int poll_millis(std::optional<SteadyTime> until, SteadyTime now) {
    if (!until) return -1;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*until - now).count();
    return static_cast<int>(std::clamp<std::int64_t>(wait, 0, std::numeric_limits<int>::max()));
}

}  // namespace

void Awaited::no_later_than(std::optional<SteadyTime> time) {
    if (time && (!until || *time < *until)) until = time;
}

Poller::Poller() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK(wake_);
}

void Poller::wait(Awaited awaited, SteadyTime now) {
    auto& all = awaited.descriptors;
    all.push_back({.fd = wake_.get(), .events = POLLIN, .revents = 0});
    ::poll(all.data(), all.size(), poll_millis(awaited.until, now));
    // Also after a poll that failed: all that was asked for until now is looked at next.
    eventfd_t asked = 0;
    eventfd_read(wake_.get(), &asked);
}

void Poller::wake() {
    eventfd_write(wake_.get(), 1);
}

void look_now(std::span<pollfd> descriptors) {
    if (::poll(descriptors.data(), descriptors.size(), 0) >= 0) return;
    for (auto& one : descriptors) one.revents = POLLERR;
}

}  // namespace knell
