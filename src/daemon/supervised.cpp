#include "daemon/supervised.hpp"

#include <chrono>
#include <utility>

namespace knell {

Result<void> take_over_socket(Supervisor& supervisor, Claims& claims) {
    auto listener = supervisor.take_listener();
    if (!listener) return std::unexpected(std::move(listener.error()));
    if (!*listener) return {};
    return claims.address().take_over(std::move(**listener));
}

void tell_readiness(const Supervisor& supervisor, net::EventLoop& loop) {
    if (const auto period = supervisor.watchdog()) {
        const auto step = std::chrono::ceil<std::chrono::milliseconds>(*period);
        loop.every(step, [&supervisor] { supervisor.tell("WATCHDOG=1"); });
    }
    supervisor.tell("READY=1");
}

}  // namespace knell
