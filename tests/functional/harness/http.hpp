#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "functional/harness/daemon.hpp"
#include "functional/harness/temp_home.hpp"
#include "functional/harness/websocket.hpp"

namespace knell::functional {

/// `knell up --http 127.0.0.1:0` in the foreground, and curl to ask it.
class HttpDaemon {
  public:
    explicit HttpDaemon(const TempHome& home, const DaemonLimits& limits = {});

    pid_t pid() const { return process_->pid(); }
    /// A crash and a start, at the same address.
    void restart();
    /// Waits until it says something more, but only for a moment; takes what it has said.
    void listen();
    /// All that it has said so far.
    const std::string& log();
    /// Asks for a WebSocket with the full token.
    WebSocketClient websocket() const { return WebSocketClient(address_, token_); }

    struct Answer {
        int status = 0;    // 0: curl failed, and `body` says how
        std::string head;  // status line and fields
        std::string body;
    };
    /// `arguments` go before the URL.
    Answer curl(std::string_view path, std::vector<std::string> arguments = {}) const;
    /// The same with the full token.
    Answer get(std::string_view path, std::vector<std::string> arguments = {}) const;
    Answer rpc(std::string_view method, std::string_view params = "{}") const;

    std::string url(std::string_view path) const {
        return "http://" + address_ + std::string(path);
    }
    const std::string& address() const { return address_; }
    static std::vector<std::string> with_token(std::string_view token);
    const std::string& token() const { return token_; }
    std::string read_token() const;

  private:
    void start(const std::string& listen, const DaemonLimits& limits);

    const TempHome& home_;
    std::optional<Process> process_;
    Fd log_pipe_;
    std::string log_;
    std::string address_;
    std::string token_;
};

}  // namespace knell::functional
