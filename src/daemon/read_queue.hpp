#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "rpc/caller.hpp"
#include "store/store.hpp"

namespace knell {

/// One read that waits for its thread.
struct QueuedRead {
    std::move_only_function<void(Reader&)> run;
    std::move_only_function<void()> drop;  // instead, when nobody waits for it any more; or none
};

/// Reads from many connections to one thread.  Whoever asked is served in turn, one read each and
/// its own in order: a client with hundreds of long reads delays another by one of them.  Full is
/// an answer, not a wait.
///
/// Any thread.
class ReadQueue {
  public:
    explicit ReadQueue(std::size_t size_max) : size_max_(size_max) {}

    /// False when full or closed; `read` is left untouched then.
    [[nodiscard]] bool push(rpc::ConnectionId asker, QueuedRead&& read);
    /// Waits for the next one.  Nothing once the queue is closed and empty.
    std::optional<QueuedRead> pop();
    /// Takes out all that this connection waits for.
    std::vector<QueuedRead> take_out(rpc::ConnectionId asker);
    /// What is queued is still handed out; nothing new is taken.
    void close();

    std::size_t size() const;

  private:
    const std::size_t size_max_;

    mutable Mutex mutex_;
    Condition ready_;
    /// None is empty.
    std::unordered_map<rpc::ConnectionId, std::deque<QueuedRead>> waiting_ KNELL_GUARDED_BY(mutex_);
    /// Whoever is in `waiting_`, once; the next one first.
    std::deque<rpc::ConnectionId> turns_ KNELL_GUARDED_BY(mutex_);
    std::size_t size_ KNELL_GUARDED_BY(mutex_) = 0;
    bool closed_ KNELL_GUARDED_BY(mutex_) = false;
};

}  // namespace knell
