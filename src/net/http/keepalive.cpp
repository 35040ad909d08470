#include "net/http/keepalive.hpp"

#include <utility>

namespace knell::net::http {

namespace {

/// Timers are never exact.  Beyond this it was us who did nothing: a busy loop, a stopped process.
constexpr std::chrono::seconds late_max{1};

}  // namespace

Keepalive::Step Keepalive::step(SteadyTime now) {
    if (now < due_) return Step::wait;
    const bool is_late = now - due_ > late_max;
    due_ = now + half_;
    if (!std::exchange(is_asked_, true)) return Step::ping;
    return is_late ? Step::wait : Step::give_up;
}

}  // namespace knell::net::http
