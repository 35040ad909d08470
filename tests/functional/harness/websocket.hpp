#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "functional/harness/client.hpp"
#include "testing/tcp_peer.hpp"

namespace knell::functional {

/// JSON-RPC over WebSocket at /v1/ws, by hand: thousands of them fit into one test.
class WebSocketClient {
  public:
    enum class Opcode : std::uint8_t {
        continuation = 0,
        text = 1,
        binary = 2,
        closing = 8,
        ping = 9,
        none = 16,  // the connection is closed
    };
    struct Frame {
        Opcode opcode = Opcode::none;
        std::string payload;
    };

    /// Connected and asked for; not answered yet.
    WebSocketClient(const std::string& address, std::string_view token,
                    const testing::TcpPeer::Options& options = {});
    /// Whether it was let in; waits for the answer.
    bool is_open();

    void send(Opcode opcode, std::string_view payload, bool is_last = true);
    Frame read_frame();

    /// Sends a call and gives its id.
    std::int64_t send_call(std::string_view method, std::string_view params = "{}");
    /// The answer to that one; events that come before it are kept.
    Answer answer_to(std::int64_t id);
    Answer call(std::string_view method, std::string_view params = "{}");
    /// The same, but an error throws.
    Json must(std::string_view method, std::string_view params = "{}");

    /// The `params` of the next notification; nothing when the connection is closed.
    std::optional<Json> next_event();

    /// The closing handshake, to its end.
    void close();
    /// Without one.
    void cut() { peer_.cut(); }
    /// Reads to the end of the stream: the code of the closing frame, 0 when none came.
    int closing_code();

  private:
    std::optional<Json> read_message();

    testing::TcpPeer peer_;
    std::optional<bool> is_open_;
    std::deque<Json> events_;
    int closing_code_ = 0;
    std::int64_t last_id_ = 0;
};

}  // namespace knell::functional
