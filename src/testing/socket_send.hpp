#pragma once

#include <cerrno>
#include <cstddef>
#include <string_view>

#include <sys/socket.h>

namespace knell::testing {

/// Sends all of it; `wait` returns when the socket takes more, or throws.  False when the other
/// side has hung up.
template <typename Wait>
bool send_all(int socket, std::string_view bytes, Wait wait) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            wait();
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/// Sends until nobody takes any more for the moment; how many bytes went.
inline std::size_t send_what_fits(int socket, std::string_view bytes) {
    std::size_t all = 0;
    while (all < bytes.size()) {
        const auto rest = bytes.substr(all);
        const auto sent = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) break;
        all += static_cast<std::size_t>(sent);
    }
    return all;
}

}  // namespace knell::testing
