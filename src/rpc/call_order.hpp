#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>

#include "rpc/caller.hpp"

namespace knell::rpc {

/// Keeps the changes that one connection asks for in the order of its calls.
///
/// Nearly all are submitted as their call comes, and the writer's queue keeps them in order.  Some
/// have to look at processes before: such a call takes its place here, and what the connection asks
/// for meanwhile waits behind it until it goes on, which is when it is submitted and not when it is
/// answered.  No connection waits for another.
///
/// A place is *waiting* (its call looks at something) or *ready* (it has work, and others are
/// before it); those that are ready and first are done and gone.
///
/// Holds calls that are in flight, so it is bounded by what a connection may have of these.  One
/// thread, the dispatcher's.
class CallOrder {
  public:
    using Work = std::move_only_function<void()>;
    /// One call.
    struct Place {
        ConnectionId connection = ConnectionId::none;
        std::uint64_t call = 0;  // of all connections; rises
    };

    /// Behind all that its connection has here.
    void wait(const Place& place);
    /// Its call need not wait any longer: `work` is done now, or when all before it is.
    void go_on(const Place& place, Work work);
    /// Its call was answered; if it still waits, it never went on.
    void leave(const Place& place);

    /// For work that waits for nothing but its turn.
    bool must_queue(ConnectionId connection) const { return lines_.contains(connection); }
    void queue(const Place& place, Work work);

    bool is_empty() const { return lines_.empty(); }

  private:
    struct Entry {
        std::uint64_t call;
        Work work;  // none: waiting
    };
    void advance(ConnectionId connection);

    std::unordered_map<ConnectionId, std::deque<Entry>> lines_;  // none is empty
};

}  // namespace knell::rpc
