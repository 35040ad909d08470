#include "client/hear.hpp"

#include <poll.h>

namespace knell::client {

Result<void> hear(Connection& connection, const Deadline& deadline,
                  std::chrono::milliseconds look_again) {
    pollfd waiting{.fd = connection.fd(), .events = POLLIN, .revents = 0};
    for (bool is_told = false;;) {
        auto told = connection.take_notification();
        if (!told) return std::unexpected(std::move(told.error()));
        if (told->has_value()) {
            is_told = true;
        } else {
            if (!is_told) (void)::poll(&waiting, 1, deadline.poll_millis(look_again));
            return {};
        }
    }
}

}  // namespace knell::client
