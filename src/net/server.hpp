#pragma once

#include <cstddef>
#include <memory>

#include "core/error.hpp"
#include "net/event_loop.hpp"
#include "net/listener.hpp"
#include "rpc/dispatcher.hpp"

namespace knell::net {

/// The unix socket: accepts, splits lines, hands them to the dispatcher, sends the answers.  On the
/// loop's thread.
class Server {
  public:
    /// `connections_max`: one more is told `limit` and closed.  The loop outlives the server.
    Server(EventLoop& loop, rpc::Dispatcher& dispatcher, std::size_t connections_max);
    ~Server();

    /// Binds and listens.  The address outlives the server.
    Result<void> listen(SocketAddress& address);
    /// Binds again when the socket is no longer there.  Whether it had to; who was connected stays
    /// so.  After `listen`.
    Result<bool> keep_listening();

    std::size_t connection_count() const;
    std::size_t connections_max() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace knell::net
