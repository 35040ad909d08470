#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "rpc/caller.hpp"
#include "rpc/dispatcher.hpp"

namespace knell::net {

/// One client.  Lives until it hangs up, breaks a bound or the server stops; answers that come in
/// after that are dropped.
///
/// Bounds, so that no client costs others anything: a line, the calls in flight, the bytes it does
/// not read and for how long.  Past the calls we stop reading from it; past the others it is
/// closed.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    using Socket = boost::asio::local::stream_protocol::socket;

    Connection(Socket socket, rpc::Caller caller, rpc::Dispatcher& dispatcher);

    /// Serves the client to its end.
    boost::asio::awaitable<void> serve();
    void close();
    /// Calls are unanswered or answers unsent.
    bool is_busy() const { return in_flight_ > 0 || !unsent_.empty(); }

  private:
    boost::asio::awaitable<bool> read_some();
    boost::asio::awaitable<void> wait_for_room();
    bool take_lines(std::string_view bytes);
    void handle(std::string_view line);
    void answer(std::string&& line);
    void flush();
    bool send_some();
    boost::asio::awaitable<void> send_rest();

    Socket socket_;
    const rpc::Caller caller_;
    rpc::Dispatcher& dispatcher_;
    boost::asio::steady_timer room_;      // cancelled when a call is answered or bytes are sent
    boost::asio::steady_timer patience_;  // runs while the client does not read
    std::string partial_;                 // an unfinished line
    std::string unsent_;
    std::size_t in_flight_ = 0;
    bool flush_posted_ = false;
    bool sending_ = false;
    bool drained_ = true;   // the last read took all there was
    bool closing_ = false;  // close once everything is sent
};

}  // namespace knell::net
