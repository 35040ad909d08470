#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "net/listener.hpp"
#include "rpc/dispatcher.hpp"

namespace knell::net {

/// The unix socket: accepts, splits lines, hands them to the dispatcher, sends the answers.
///
/// All of it runs on the thread that calls `run`; only `post`, `after` and
/// `stop` may be called from others.
class Server {
  public:
    /// `connections_max`: one more is told `limit` and closed.
    Server(rpc::Dispatcher& dispatcher, std::size_t connections_max);
    ~Server();

    /// Binds and listens.  The address outlives the server.
    Result<void> listen(SocketAddress& address);
    /// Binds again when the socket is no longer there.  Whether it had to; who was connected stays
    /// so.  On the server's thread, after `listen`.
    Result<bool> keep_listening();

    /// Serves until `stop`, SIGTERM or SIGINT; then sends what is still unsent and returns.
    void run();

    void post(std::move_only_function<void()> work);
    void stop();

    /// Runs `work` on this server's thread every `period`, first after one period.
    void every(std::chrono::milliseconds period, std::function<void()> work);
    /// Once, on the serving thread; from any thread.  Dropped when it stops before that.
    void after(std::chrono::milliseconds delay, std::function<void()> work);

    /// Runs `work` on this server's thread for each SIGHUP, unless SIGHUP is ignored, as under
    /// nohup.
    void on_hangup(std::function<void()> work);

    std::size_t connection_count() const;
    std::size_t connections_max() const;

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace knell::net
