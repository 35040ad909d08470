#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "net/client_count.hpp"
#include "net/event_loop.hpp"
#include "net/http/admission.hpp"
#include "net/http/bounds.hpp"
#include "rpc/dispatcher.hpp"

namespace knell::net::http {

/// The HTTP server: accepts clients at a TCP address and serves them what `routes` lists.  On the
/// loop's thread, unless said otherwise.
class Server {
  public:
    /// `is_ready`: whether calls can be answered at all.  Loop, dispatcher and count outlive it.
    Server(EventLoop& loop, rpc::Dispatcher& dispatcher, ClientCount& clients,
           std::function<bool()> is_ready, const Deadlines& deadlines = {});
    ~Server();

    /// Before anybody is served.  Who came in by a token that is no longer one, or allows less now,
    /// is closed: how many.
    std::size_t set_rules(Rules rules);

    /// Listens at that address, and no longer at another; who is connected stays so.  The address
    /// with the port that was taken: "127.0.0.1:7717".
    Result<std::string> listen(const std::string& ip, std::uint16_t port);
    void stop_listening();
    void close_clients();

    /// Of these clients.  Any thread.
    std::size_t client_count() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace knell::net::http
