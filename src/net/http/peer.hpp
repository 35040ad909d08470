#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/http/admission.hpp"
#include "net/http/auth_throttle.hpp"
#include "net/http/bounds.hpp"
#include "net/memory_budget.hpp"
#include "rpc/dispatcher.hpp"

namespace knell::net::http {

using Socket = boost::asio::ip::tcp::socket;

/// One client, whatever it speaks by now.  One thread, the loop's.
class Peer {
  public:
    virtual ~Peer() = default;

    /// Serves the client to its end.
    virtual boost::asio::awaitable<void> serve() = 0;
    virtual void close() = 0;

    /// Something was asked and is not answered yet.
    virtual bool is_busy() const = 0;
    /// It was let in once and for all by that token; nothing where each request shows its own.
    virtual std::optional<rpc::Access> let_in_by() const { return std::nullopt; }

    /// What it has yet to take, and what it has sent in part.
    virtual std::size_t bytes_unsent() const { return 0; }
    virtual std::size_t bytes_half_read() const { return 0; }
    /// All clients together hold too much of it, and this one the most.
    virtual void give_up_unsent() {}
    virtual void give_up_half_read() {}
};

/// What all clients have in common.  Outlives them and the answers that come in after them.
struct Common {
    rpc::Dispatcher& dispatcher;
    std::function<bool()> is_ready;
    /// Serves a client from now on that has begun to speak something else.
    std::function<void(std::shared_ptr<Peer>)> adopt;
    const Deadlines deadlines;
    std::shared_ptr<const Rules> rules;
    AuthThrottle throttle{bounds::throttled_addresses_max};
    MemoryBudget asked;  // bodies and messages that are not answered yet
    MemoryBudget half_read;
    MemoryBudget unsent;
};

}  // namespace knell::net::http
