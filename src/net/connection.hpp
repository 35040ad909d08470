#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/limits.hpp"
#include "net/line_cutter.hpp"
#include "net/memory_budget.hpp"
#include "net/outbox.hpp"
#include "rpc/caller.hpp"
#include "rpc/dispatcher.hpp"
#include "rpc/stream.hpp"

namespace knell::net {

/// One client on the unix socket: lines in, calls in flight, an outbox.  Lives until it hangs up,
/// breaks a bound or the server stops; answers that come in after that are dropped.
///
/// Bounds, so that no client costs others anything: a line, the calls in flight and their bytes,
/// what it leaves unread (see Outbox), and each kind of bytes over all clients together.  Past the
/// calls we stop reading from it, past those of all a call is answered `limit`; past the others it
/// is told `limit`, behind what was sent to it before, and closed.
class Connection final : public rpc::Stream,
                         public std::enable_shared_from_this<Connection>,
                         private Outbox::Sink {
  public:
    using Socket = boost::asio::local::stream_protocol::socket;

    /// Those of all connections, and of the calls that outlive theirs.
    struct Budgets {
        MemoryBudget asked;  // calls in flight
        MemoryBudget half_read;
        MemoryBudget unsent;
        std::uint64_t taken = 0;  // counts when clients take something
    };
    /// `unsent_for_max`: a client that takes nothing for so long is closed.
    Connection(Socket socket, rpc::Caller caller, rpc::Dispatcher& dispatcher,
               std::shared_ptr<Budgets> budgets,
               std::chrono::milliseconds unsent_for_max = limits::unsent_for_max);

    /// Serves the client to its end.
    boost::asio::awaitable<void> serve();
    void close() override;

    std::size_t bytes_unsent() const { return outbox_.size(); }
    std::size_t bytes_half_read() const { return lines_.size(); }
    /// When it last took something, or had taken everything: later ones have a higher number.
    std::uint64_t last_taken() const { return last_taken_; }
    /// All clients together hold too much, and this one is to let go of what it holds.
    void give_up_unsent() { outbox_.give_up(); }
    void give_up_half_read();

    /// Calls are unanswered or answers unsent.  What a feed has yet to say can be had again later.
    bool is_busy() const { return in_flight_ > 0 || (!outbox_.is_empty() && feeds_.is_empty()); }

    const wire::Framing& framing() const override { return wire::json_lines; }
    void send(std::string_view lines) override { outbox_.put(lines); }
    std::size_t unsent() const override { return outbox_.size(); }
    void finish(const Error& why) override { outbox_.finish(why); }
    rpc::FeedSet& feeds() override { return feeds_; }

  private:
    boost::asio::awaitable<bool> read_some();
    boost::asio::awaitable<void> wait_for_room();
    bool take_lines(std::string_view bytes);
    void handle(std::string_view line);
    bool must_wait() const;
    bool is_too_much(std::size_t bytes) const;
    void answer(std::string_view line, std::size_t asked_bytes);
    void hold_reads_if_full();

    std::optional<std::size_t> take(std::string_view bytes) override;
    void flush_soon() override;
    void flush_when_it_fits(std::chrono::milliseconds patience) override;
    void on_flushed() override;
    void close_when_sent() override;

    Socket socket_;
    const rpc::Caller caller_;
    rpc::Dispatcher& dispatcher_;
    boost::asio::steady_timer room_;      // cancelled when a call is answered or bytes are sent
    boost::asio::steady_timer patience_;  // runs while the client does not read
    const std::shared_ptr<Budgets> budgets_;
    LineCutter lines_;
    Outbox outbox_;
    rpc::FeedSet feeds_{1};
    std::uint64_t last_taken_ = 0;
    std::size_t in_flight_ = 0;    // calls
    std::size_t asked_bytes_ = 0;  // of these calls
    bool holds_reads_ = false;     // nothing more is looked up for it
    bool drained_ = true;          // the last read took all there was
    bool closing_ = false;         // close once everything is sent
};

}  // namespace knell::net
