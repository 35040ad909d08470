#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/limits.hpp"
#include "net/memory_budget.hpp"
#include "wire/framing.hpp"

namespace knell::net {

/// What one client has yet to take: answers and feeds, in the order in which they were put.
///
/// It is bounded in bytes, alone and together with all others, and in the time for which the client
/// takes nothing.  Past its own bytes the client is told `limit`, behind what was put before, and
/// closed; past those of all whoever holds the most has to give up.
///
/// States: *idle* (nothing is unsent), *due* (something is, and the sink will call `flush`: soon,
/// or when it has room), *closed* (for good).  Being *refused* comes on top: the last message is
/// put, and all that comes later is dropped.
///
/// Knows messages by the end that their framing gives them, and no sockets.  One thread.
class Outbox {
  public:
    /// Where it goes.  Before they return, `on_flushed` may put more and `close` close the outbox;
    /// all else calls back later.
    class Sink {
      public:
        virtual ~Sink() = default;

        /// Takes what fits right now of these bytes, which are some: how many.  One that sends
        /// whole messages takes up to the first end.  Nothing: the client is gone.
        virtual std::optional<std::size_t> take(std::string_view bytes) = 0;
        /// Calls `flush` once.  Messages come in batches; one write sends all that a batch has.
        virtual void flush_soon() = 0;
        /// Calls `flush` once when more fits; closes when none does for so long.
        virtual void flush_when_it_fits(std::chrono::milliseconds patience) = 0;
        /// What could leave has left: there may be room for more.
        virtual void on_flushed() = 0;
        /// Reads no more calls, and closes when everything is sent.
        virtual void close_when_sent() = 0;
        virtual void close() = 0;
    };

    /// `patience`: a client that takes nothing for so long is closed.
    Outbox(Sink& sink, const wire::Framing& framing, MemoryBudget& unsent_of_all,
           std::chrono::milliseconds patience = limits::unsent_for_max);

    /// Whole messages.
    void put(std::string_view messages);
    /// The reason is the last that is said before the connection is closed.
    void finish(const Error& why);
    /// The same, for a client that has passed a bound: what is put later is dropped.
    void refuse(std::string why);
    /// All clients together hold too much, and this one the most: lets go of what it holds, but for
    /// a message that is half sent.
    void give_up();
    /// Gives to the sink what it takes.  Called by the sink alone.
    void flush();
    void close();

    std::size_t size() const { return unsent_.size(); }
    bool is_empty() const { return unsent_.empty(); }
    bool is_refused() const { return is_refused_; }

    void check_invariants() const;

  private:
    void sent(std::size_t bytes);
    void put_any(std::string_view messages);
    bool is_between_messages() const { return last_sent_ == framing_.end; }

    Sink& sink_;
    const wire::Framing& framing_;
    const std::chrono::milliseconds patience_;
    std::string unsent_;
    BudgetShare share_;      // `unsent_`, between calls
    std::string last_sent_;  // as many bytes as the end of a message has
    bool is_due_ = false;    // the sink will call `flush`
    bool is_refused_ = false;
    bool is_closed_ = false;
};

}  // namespace knell::net
