#include "testing/tcp_peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "testing/socket_send.hpp"

namespace knell::testing {

namespace {

/// Only a bound: nothing waits that long when all is well.
constexpr int wait_max_ms = 30'000;

void wait_for(int fd, short events) {
    pollfd watched{.fd = fd, .events = events, .revents = 0};
    if (::poll(&watched, 1, wait_max_ms) == 0) throw std::runtime_error("waited in vain");
}

}  // namespace

TcpPeer::TcpPeer(const std::string& address, const Options& options)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto port = address.substr(address.rfind(':') + 1);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (options.receive_buffer > 0) {
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &options.receive_buffer,
                     sizeof options.receive_buffer);
    }
    const auto* generic = reinterpret_cast<const sockaddr*>(&to);
    if (!fd_ || ::connect(fd_.get(), generic, sizeof to) != 0) {
        throw std::runtime_error("cannot connect to " + address);
    }
}

bool TcpPeer::send(std::string_view bytes) {
    return send_all(fd_.get(), bytes, [this] { wait_for(fd_.get(), POLLOUT); });
}

std::size_t TcpPeer::send_what_fits(std::string_view bytes) {
    return testing::send_what_fits(fd_.get(), bytes);
}

bool TcpPeer::read_more() {
    for (;;) {
        std::array<char, 65'536> chunk;
        const auto count = ::recv(fd_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (count > 0) {
            received_.append(chunk.data(), static_cast<std::size_t>(count));
            return true;
        }
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) return false;
        wait_for(fd_.get(), POLLIN);
    }
}

std::string TcpPeer::read_until(std::string_view end) {
    auto at = received_.find(end);
    while (at == std::string::npos && read_more()) at = received_.find(end);
    return take(at == std::string::npos ? received_.size() : at + end.size());
}

std::string TcpPeer::read_bytes(std::size_t count) {
    while (received_.size() < count && read_more()) {
    }
    return take(std::min(count, received_.size()));
}

std::string TcpPeer::take(std::size_t count) {
    auto taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
}

std::string TcpPeer::read_all() {
    while (read_more()) {
    }
    return std::exchange(received_, {});
}

std::string TcpPeer::read_response() {
    auto head = read_until("\r\n\r\n");
    const auto at = head.find("Content-Length: ");
    std::size_t length = 0;
    if (at != std::string::npos) {
        std::from_chars(head.data() + at + 16, head.data() + head.size(), length);
    }
    return head + read_bytes(length);
}

void TcpPeer::cut() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_.reset();
}

}  // namespace knell::testing
