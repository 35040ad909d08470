#include "web_client.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "must.hpp"
#include "rpc_line.hpp"

namespace knell::bench {

namespace {

constexpr int medium_length = 126;
constexpr int large_length = 127;
constexpr unsigned char masked = 0x80;
constexpr unsigned char text_frame = 0x81;

std::string head_of_get(const WebAddress& web, std::string_view target) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n",
                       target, web.port, web.token);
}

void send_all(const Fd& socket, std::string_view text) {
    must(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(text.size()),
         "send");
}

/// Byte by byte: nothing that follows it must be taken.
std::string read_head(const Fd& socket) {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n")) {
        must(recv(socket.get(), &byte, 1, 0) == 1, "reading a response");
        head += byte;
    }
    return head;
}

void must_be(std::string_view head, std::string_view status) {
    if (head.substr(0, head.find('\r')).contains(status)) return;
    throw Failed(fmt::format("expected {}, the daemon answered: {:.200}", status, head));
}

std::size_t number_in(std::string_view text) {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

Fd open_web_socket(const WebAddress& web) {
    auto socket = connect_loopback(web.port);
    send_all(socket, head_of_get(web, "/v1/ws") +
                         "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                         "Sec-WebSocket-Version: 13\r\n"
                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    must_be(read_head(socket), "101");
    return socket;
}

std::vector<Fd> open_web_sockets(const WebAddress& web, std::size_t count) {
    std::vector<Fd> sockets;
    sockets.reserve(count);
    while (sockets.size() < count) sockets.push_back(open_web_socket(web));
    return sockets;
}

Fd open_event_stream(const WebAddress& web) {
    auto socket = connect_loopback(web.port);
    send_all(socket, head_of_get(web, "/v1/events") + "\r\n");
    must_be(read_head(socket), "200");
    return socket;
}

void append_client_frame(std::string& out, std::string_view message) {
    const auto size = message.size();
    out += static_cast<char>(text_frame);
    if (size < medium_length) {
        out += static_cast<char>(masked | size);
    } else {
        must(size <= UINT16_MAX, "a message that long");
        out += static_cast<char>(masked | medium_length);
        out += static_cast<char>(size >> 8U);
        out += static_cast<char>(size);
    }
    out.append(4, '\0');
    out += message;
}

std::optional<std::string_view> take_server_frame(std::string_view& bytes) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    while (bytes.size() >= 2) {
        std::size_t head = 2;
        std::size_t size = byte(1);
        if (size >= medium_length) {
            const std::size_t length_bytes = size == large_length ? 8 : 2;
            head += length_bytes;
            if (bytes.size() < head) return std::nullopt;
            size = 0;
            for (std::size_t i = 0; i < length_bytes; ++i) size = size << 8U | byte(2 + i);
        }
        if (bytes.size() < head + size) return std::nullopt;
        const bool is_text = byte(0) == text_frame;
        const auto message = bytes.substr(head, size);
        bytes.remove_prefix(head + size);
        if (is_text) return message;
    }
    return std::nullopt;
}

HttpReader::Answer HttpReader::get(std::string_view target, std::string_view if_none_match) {
    auto request = head_of_get(web_, target);
    if (!if_none_match.empty()) request += fmt::format("If-None-Match: {}\r\n", if_none_match);
    stream_.send(request + "\r\n");
    Answer answer;
    constexpr std::size_t version_bytes = 9;  // "HTTP/1.1 "
    answer.status = static_cast<int>(number_in(stream_.read_line().substr(version_bytes)));
    std::size_t body = 0;
    for (auto line = stream_.read_line(); !line.empty(); line = stream_.read_line()) {
        constexpr std::string_view length = "Content-Length: ";
        constexpr std::string_view etag = "ETag: ";
        if (line.starts_with(length)) body = number_in(line.substr(length.size()));
        if (line.starts_with(etag)) answer.etag = line.substr(etag.size());
    }
    answer.body = stream_.read_bytes(body);
    return answer;
}

void allow_clients(std::size_t wanted) {
    // More than the daemon needs, which keeps some for owners, hooks and itself.
    constexpr std::size_t times = 3;
    constexpr std::size_t others = 2'048;
    const auto needed = static_cast<rlim_t>(wanted * times + others);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= needed) return;
    const auto allowed = std::exchange(limit.rlim_max, std::max(limit.rlim_max, needed));
    limit.rlim_cur = needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
    limit.rlim_cur = limit.rlim_max = allowed;
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

std::size_t web_clients_max(const std::string& socket, std::size_t wanted) {
    const auto status = Caller(socket).call("node.status", {});
    const auto* connections = wire::object_at(status, "connections");
    if (connections == nullptr) throw Failed("node.status tells of no connections");
    // One place in four, up to so many, is for the unix socket, and some clients may be there
    // already.
    constexpr std::size_t unix_max = 512;
    constexpr std::size_t there = 16;
    const auto places = static_cast<std::size_t>(wire::int_at(*connections, "max"));
    return std::min(wanted, places - std::min(places / 4, unix_max) - there);
}

}  // namespace knell::bench
