#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
    /// When it last took something of that, or had taken everything: later ones have a higher
    /// number (`Common::taken`).
    virtual std::uint64_t last_taken() const { return 0; }
    /// All clients together hold too much of it, and this one the most.
    virtual void give_up_unsent() {}
    virtual void give_up_half_read() {}
};

/// Clients that have not shown a token yet, in the order in which they came: when there is no place
/// left, the first of them makes room.  Holding many connections open takes nothing but time, and
/// must not keep out who is known here.
class Strangers {
  public:
    /// One of them, while it is one.
    class Place {
      public:
        Place(Strangers& strangers, Peer& peer)
            : strangers_(strangers), at_(strangers.peers_.insert(strangers.peers_.end(), &peer)) {}
        ~Place() { leave(); }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        void leave() {
            if (std::exchange(is_in_, false)) strangers_.peers_.erase(at_);
        }

      private:
        Strangers& strangers_;
        std::list<Peer*>::iterator at_;
        bool is_in_ = true;
    };

    /// Null when there is none.
    Peer* first() const { return peers_.empty() ? nullptr : peers_.front(); }

  private:
    std::list<Peer*> peers_;
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
    Strangers strangers;
    MemoryBudget asked;  // bodies and messages that are not answered yet
    MemoryBudget half_read;
    MemoryBudget unsent;
    std::uint64_t taken = 0;  // counts when clients take something
};

}  // namespace knell::net::http
