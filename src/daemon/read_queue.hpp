#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "rpc/caller.hpp"
#include "rpc/stream.hpp"
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
/// Who has yet to take what was read for it has no turn: it is *held* by its connection, which
/// knows what its client did not take, and *owed* what was read and is on its way to that
/// connection.  So what a client leaves unread bounds what is read for it, however much it asked.
///
/// Any thread.
class ReadQueue {
  public:
    /// `owed_max`: a connection that is owed so many bytes has no turn.
    explicit ReadQueue(std::size_t size_max, std::size_t owed_max = rpc::owed_bytes_max)
        : size_max_(size_max), owed_max_(owed_max) {}

    /// False when full or closed; `read` is left untouched then.
    [[nodiscard]] bool push(rpc::ConnectionId asker, QueuedRead&& read);
    /// Waits for the next one.  Nothing once the queue is closed and empty.
    std::optional<QueuedRead> pop();
    /// Takes out all that this connection waits for; it is held no more.
    std::vector<QueuedRead> take_out(rpc::ConnectionId asker);
    /// Whether what it asked for has to wait until its client has taken more.
    void hold(rpc::ConnectionId asker, bool is_held);
    /// So many bytes were read for it, before the next `pop`; and its connection has them.
    void owe(rpc::ConnectionId asker, std::size_t bytes);
    void settle(rpc::ConnectionId asker, std::size_t bytes);
    /// What is queued is still handed out, whoever is held; nothing new is taken.
    void close();

    std::size_t size() const;
    /// `pop` would not wait.
    bool has_turn() const;

  private:
    struct Asker {
        std::deque<QueuedRead> reads;
        std::size_t owed = 0;
        bool is_held = false;
        bool has_turn = false;  // it is in `turns_`
    };
    using Askers = std::unordered_map<rpc::ConnectionId, Asker>;

    /// Gives it its place in `turns_` or takes it away, and forgets one with nothing to say of it.
    void update(Askers::iterator asker) KNELL_REQUIRES(mutex_);

    const std::size_t size_max_;
    const std::size_t owed_max_;

    mutable Mutex mutex_;
    Condition ready_;
    Askers askers_ KNELL_GUARDED_BY(mutex_);
    /// Whoever asked and may be served, once; the next one first.
    std::deque<rpc::ConnectionId> turns_ KNELL_GUARDED_BY(mutex_);
    std::size_t size_ KNELL_GUARDED_BY(mutex_) = 0;
    bool closed_ KNELL_GUARDED_BY(mutex_) = false;
};

}  // namespace knell
