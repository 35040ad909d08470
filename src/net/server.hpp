#pragma once

#include <memory>

#include "core/error.hpp"
#include "net/client_count.hpp"
#include "net/event_loop.hpp"
#include "net/listener.hpp"
#include "rpc/dispatcher.hpp"

namespace knell::net {

/// The unix socket: accepts, splits lines, hands them to the dispatcher, sends the answers.  On the
/// loop's thread.
class Server {
  public:
    /// One client more than the most is told `limit` and closed.  Loop and count outlive the
    /// server.
    Server(EventLoop& loop, rpc::Dispatcher& dispatcher, ClientCount& clients);
    ~Server();

    /// Binds and listens.  The address outlives the server.
    Result<void> listen(SocketAddress& address);
    /// Binds again when the socket is no longer there.  Whether it had to; who was connected stays
    /// so.  After `listen`.
    Result<bool> keep_listening();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace knell::net
