#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/limits.hpp"
#include "net/line_cutter.hpp"
#include "net/memory_budget.hpp"
#include "rpc/caller.hpp"
#include "rpc/dispatcher.hpp"
#include "rpc/stream.hpp"

namespace knell::net {

/// One client.  Lives until it hangs up, breaks a bound or the server stops; answers that come in
/// after that are dropped.
///
/// Bounds, so that no client costs others anything: a line, the calls in flight and their bytes,
/// the bytes it does not read and for how long, and each kind of bytes over all clients together.
/// Past the calls we stop reading from it, past those of all a call is answered `limit`; past the
/// others it is told `limit`, behind what was sent to it before, and closed.
class Connection final : public rpc::Stream, public std::enable_shared_from_this<Connection> {
  public:
    using Socket = boost::asio::local::stream_protocol::socket;

    /// Those of all connections, and of the calls that outlive theirs.
    struct Budgets {
        MemoryBudget asked;  // calls in flight
        MemoryBudget half_read;
        MemoryBudget unsent;
    };
    /// `unsent_for_max`: a client that takes nothing for so long is closed.
    Connection(Socket socket, rpc::Caller caller, rpc::Dispatcher& dispatcher,
               std::shared_ptr<Budgets> budgets,
               std::chrono::milliseconds unsent_for_max = limits::unsent_for_max);

    /// Serves the client to its end.
    boost::asio::awaitable<void> serve();
    void close();

    std::size_t bytes_unsent() const { return unsent_share_.held(); }
    std::size_t bytes_half_read() const { return lines_.size(); }
    /// All clients together hold too much, and this one the most: lets go of what it holds.
    void give_up_unsent();
    void give_up_half_read();

    /// Calls are unanswered or answers unsent.  What a feed has yet to say can be had again later.
    bool is_busy() const { return in_flight_ > 0 || (!unsent_.empty() && feeds_.is_empty()); }

    const wire::Framing& framing() const override { return wire::json_lines; }
    void send(std::string_view lines) override;
    std::size_t unsent() const override { return unsent_.size(); }
    void finish(const Error& why) override;
    rpc::FeedSet& feeds() override { return feeds_; }

  private:
    boost::asio::awaitable<bool> read_some();
    boost::asio::awaitable<void> wait_for_room();
    bool take_lines(std::string_view bytes);
    void append(std::string_view lines);
    void refuse(std::string why);
    void count_unsent() { unsent_share_.set(unsent_.size()); }
    void handle(std::string_view line);
    bool must_wait() const;
    bool is_too_much(std::size_t bytes) const;
    void answer(std::string_view line, std::size_t asked_bytes);
    void flush();
    void tell_of_room();
    bool send_some();
    bool send_what_fits();
    boost::asio::awaitable<void> send_rest();

    Socket socket_;
    const rpc::Caller caller_;
    rpc::Dispatcher& dispatcher_;
    const std::chrono::milliseconds unsent_for_max_;
    boost::asio::steady_timer room_;      // cancelled when a call is answered or bytes are sent
    boost::asio::steady_timer patience_;  // runs while the client does not read
    const std::shared_ptr<Budgets> budgets_;
    LineCutter lines_;
    std::string unsent_;
    BudgetShare unsent_share_;
    rpc::FeedSet feeds_{1};
    std::size_t in_flight_ = 0;    // calls
    std::size_t asked_bytes_ = 0;  // of these calls
    bool flush_posted_ = false;
    bool sending_ = false;
    bool drained_ = true;           // the last read took all there was
    bool closing_ = false;          // close once everything is sent
    bool refused_ = false;          // it was told `limit`: nothing more is for it
    bool is_at_line_start_ = true;  // the first of `unsent_` begins a line
};

}  // namespace knell::net
