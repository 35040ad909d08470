#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer_process.hpp"
#include "platform/fd.hpp"

namespace knell::bench {

/// Where a daemon serves HTTP, and what it wants to see.
struct WebAddress {
    int port = 0;
    std::string token;
};

/// A WebSocket connection on which nothing was said yet.
Fd open_web_socket(const WebAddress& web);
std::vector<Fd> open_web_sockets(const WebAddress& web, std::size_t count);
/// A stream of server-sent events from now on, whose head was read.
Fd open_event_stream(const WebAddress& web);

/// A text message as a client sends it.  Masked with zeros, which leaves it as it is: the daemon
/// unmasks it all the same, and this process shares the cores with it.
void append_client_frame(std::string& out, std::string_view message);
/// The next message in `bytes`, which it is taken from; nothing while it is not whole.  Pings and
/// pongs are skipped.
std::optional<std::string_view> take_server_frame(std::string_view& bytes);

/// One GET after the other on one connection.
class HttpReader {
  public:
    explicit HttpReader(const WebAddress& web) : web_(web), stream_(web.port) {}

    struct Answer {
        int status = 0;
        std::string etag;
        std::string body;
    };
    Answer get(std::string_view target, std::string_view if_none_match = {});

  private:
    const WebAddress web_;
    LoopbackStream stream_;
};

/// So many clients of a daemon need more open files than processes usually may have: this process
/// and those that it starts may have as many from now on, or as many as can be had.
void allow_clients(std::size_t wanted);
/// As many as the daemon at that unix socket takes over HTTP, `wanted` at most.
std::size_t web_clients_max(const std::string& socket, std::size_t wanted);

}  // namespace knell::bench
