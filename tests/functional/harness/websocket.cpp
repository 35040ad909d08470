#include "functional/harness/websocket.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "testing/client_frame.hpp"

namespace knell::functional {

WebSocketClient::WebSocketClient(const std::string& address, std::string_view token,
                                 const testing::TcpPeer::Options& options)
    : peer_(address, options) {
    peer_.send(
        fmt::format("GET /v1/ws HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n"
                    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                    address, token));
}

bool WebSocketClient::is_open() {
    if (!is_open_) {
        is_open_ = peer_.read_until("\r\n\r\n").starts_with("HTTP/1.1 101 ");
    }
    return *is_open_;
}

void WebSocketClient::send(Opcode opcode, std::string_view payload, bool is_last) {
    if (!is_open()) return;  // frames come after the answer to the upgrade
    peer_.send(testing::client_frame(static_cast<unsigned>(opcode), payload, is_last));
}

WebSocketClient::Frame WebSocketClient::read_frame() {
    if (!is_open()) return {};
    const auto head = peer_.read_bytes(2);
    if (head.size() < 2) return {};
    std::size_t size = static_cast<unsigned char>(head[1]) & 0x7fU;
    const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (more > 0) size = 0;
    for (const char byte : peer_.read_bytes(more)) {
        size = size << 8U | static_cast<unsigned char>(byte);
    }
    Frame frame{static_cast<Opcode>(static_cast<unsigned char>(head[0]) & 0xf),
                peer_.read_bytes(size)};
    if (frame.payload.size() < size) return {};
    if (frame.opcode == Opcode::closing && frame.payload.size() >= 2) {
        closing_code_ = static_cast<unsigned char>(frame.payload[0]) << 8 |
                        static_cast<unsigned char>(frame.payload[1]);
        send(Opcode::closing, frame.payload);
    }
    return frame;
}

std::optional<Json> WebSocketClient::read_message() {
    for (;;) {
        auto frame = read_frame();
        if (frame.opcode == Opcode::none || frame.opcode == Opcode::closing) return std::nullopt;
        if (frame.opcode == Opcode::text) return parse(frame.payload);
    }
}

std::int64_t WebSocketClient::send_call(std::string_view method, std::string_view params) {
    const auto id = ++last_id_;
    send(Opcode::text, fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id,
                                   method, params));
    return id;
}

Answer WebSocketClient::answer_to(std::int64_t id) {
    for (;;) {
        auto message = read_message();
        if (!message) throw std::runtime_error("the daemon closed the connection");
        if (!at(*message, "id").is_null()) {
            if (number(*message, "id") != id) throw std::runtime_error("not our answer");
            return {std::move(*message)};
        }
        events_.push_back(at(*message, "params"));
    }
}

Answer WebSocketClient::call(std::string_view method, std::string_view params) {
    return answer_to(send_call(method, params));
}

Json WebSocketClient::must(std::string_view method, std::string_view params) {
    auto answer = call(method, params);
    if (!answer.ok()) {
        throw std::runtime_error(fmt::format("{} {}: {}", method, params, answer.message()));
    }
    return answer.result();
}

std::optional<Json> WebSocketClient::next_event() {
    if (events_.empty()) {
        auto message = read_message();
        if (!message) return std::nullopt;
        events_.push_back(at(*message, "params"));
    }
    auto event = std::move(events_.front());
    events_.pop_front();
    return event;
}

void WebSocketClient::close() {
    send(Opcode::closing, "\x03\xe8");
    closing_code();
    peer_.close();
}

int WebSocketClient::closing_code() {
    while (read_frame().opcode != Opcode::none) {
    }
    return closing_code_;
}

}  // namespace knell::functional
