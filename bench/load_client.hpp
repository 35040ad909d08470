#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/fd.hpp"
#include "web_client.hpp"

namespace knell::bench {

/// The same method called many times.
struct Load {
    std::string_view method;
    std::size_t calls = 0;
    std::size_t window = 1;  // unanswered calls that each connection keeps

    /// Appends the parameters of call `number` (0, 1, 2 ...), a JSON object, to `out`.
    std::function<void(std::size_t number, std::string& out)> params;
    /// Sees each answer line; may be empty.
    std::function<void(std::size_t number, std::string_view answer)> answered;
};

struct LoadResult {
    double seconds = 0;
    std::vector<double> micros;  // from sending to the answer, in the order of the answers

    double rate() const { return static_cast<double>(micros.size()) / seconds; }
};

/// Many clients in one thread: non-blocking sockets and epoll, and as little work between them as
/// possible, because it shares the cores with the daemon it measures.
class LoadClient {
  public:
    LoadClient(const std::string& socket, std::size_t connections);
    /// The same over WebSocket.
    LoadClient(const WebAddress& web, std::size_t connections);

    /// Throws Failed when any call is answered with an error.
    LoadResult run(const Load& load);

  private:
    struct Client {
        Fd socket;
        std::string unsent;
        std::string partial;
    };

    void add(Fd socket);
    void call_next(Client& client, const Load& load);
    void flush(std::size_t index);
    void receive(std::size_t index, const Load& load);
    void take_lines(Client& client, std::string_view bytes, const Load& load);
    void take_frames(Client& client, std::string_view bytes, const Load& load);
    void take(std::string_view line, const Load& load);

    const bool is_web_;
    Fd epoll_;
    std::vector<Client> clients_;
    std::vector<char> buffer_;
    std::string body_;  // of the call that is being made

    // Of the present run.
    std::size_t sent_ = 0;
    std::vector<double> sent_at_;
    std::vector<double> micros_;
};

}  // namespace knell::bench
