#include "testing/loopback_server.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/check.hpp"

namespace knell::testing {

namespace {

Fd listen_on_loopback() {
    Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(listener);
    CHECK(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK(::listen(listener.get(), SOMAXCONN) == 0);
    return listener;
}

std::uint16_t port_of(const Fd& listener) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    CHECK(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    return ntohs(address.sin_port);
}

/// How long the first request in `received` is; 0 while some of it is missing.
std::size_t request_size(const std::string& received) {
    const auto head = received.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    std::size_t body = 0;
    constexpr std::string_view name = "content-length:";
    for (auto line = received.find("\r\n"); line < head; line = received.find("\r\n", line + 2)) {
        const auto* const text = received.c_str() + line + 2;
        if (strncasecmp(text, name.data(), name.size()) == 0) {
            body = std::strtoul(text + name.size(), nullptr, 10);
        }
    }
    const auto whole = head + 4 + body;
    return received.size() >= whole ? whole : 0;
}

/// Who hears only half of it has hung up, which is theirs to do.
void send_all(const Fd& socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

}  // namespace

LoopbackServer::LoopbackServer(Script script)
    : script_(std::move(script)),
      listener_(listen_on_loopback()),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      port_(port_of(listener_)),
      thread_([this] { run(); }) {}

LoopbackServer::LoopbackServer(std::string bytes)
    : LoopbackServer(
          [bytes = std::move(bytes)](const std::string&) { return Reply{bytes, Then::close}; }) {}

LoopbackServer::~LoopbackServer() {
    CHECK(::eventfd_write(stop_.get(), 1) == 0);
    thread_.join();
}

std::string LoopbackServer::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<std::string> LoopbackServer::requests() const {
    const Lock lock(mutex_);
    return requests_;
}

std::size_t LoopbackServer::connections() const {
    const Lock lock(mutex_);
    return connections_;
}

void LoopbackServer::release(const std::string& bytes) {
    const Lock lock(mutex_);
    for (auto& peer : peers_) {
        if (!peer.hangs) continue;
        send_all(peer.socket, bytes);
        ::shutdown(peer.socket.get(), SHUT_WR);
    }
}

void LoopbackServer::run() {
    for (;;) {
        std::vector<pollfd> watched{{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
        {
            const Lock lock(mutex_);
            for (const auto& peer : peers_) watched.push_back({peer.socket.get(), POLLIN, 0});
        }
        if (::poll(watched.data(), watched.size(), -1) < 0) continue;
        if (watched[0].revents != 0) return;
        {
            const Lock lock(mutex_);
            auto peer = peers_.begin();  // only this thread adds or removes
            for (std::size_t i = 2; i < watched.size(); ++i) {
                const bool stays = watched[i].revents == 0 || serve(*peer);
                peer = stays ? std::next(peer) : peers_.erase(peer);
            }
        }
        if (watched[1].revents != 0) accept_one();
    }
}

void LoopbackServer::accept_one() {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    const Lock lock(mutex_);
    peers_.push_back({.socket = std::move(socket)});
    ++connections_;
}

bool LoopbackServer::serve(Peer& peer) {
    std::array<char, 65'536> chunk{};
    const auto count = ::recv(peer.socket.get(), chunk.data(), chunk.size(), 0);
    if (count <= 0) return false;
    peer.received.append(chunk.data(), static_cast<std::size_t>(count));
    while (const auto size = request_size(peer.received)) {
        const auto request = peer.received.substr(0, size);
        peer.received.erase(0, size);
        if (!answer(peer, request)) return false;
    }
    return true;
}

bool LoopbackServer::answer(Peer& peer, const std::string& request) {
    requests_.push_back(request);
    const auto reply = script_(request);
    send_all(peer.socket, reply.bytes);
    peer.hangs = reply.then == Then::hang;
    return reply.then != Then::close;
}

}  // namespace knell::testing
