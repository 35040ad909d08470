#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/limits.hpp"
#include "daemon/read_queue.hpp"
#include "store/store.hpp"

namespace knell {

/// A thread with a reader of its own: a long listing never delays a commit.
class ReadThread {
  public:
    /// `name` is a literal.  `niceness` above 0 gives way to the threads that somebody waits for.
    ReadThread(std::unique_ptr<Reader> reader, const char* name, int niceness)
        : name_(name),
          niceness_(niceness),
          reader_(std::move(reader)),
          queue_(limits::queue_reads_max),
          thread_([this] { loop(); }) {}
    ~ReadThread() { stop(); }

    /// False when the queue is full.
    bool submit(rpc::ConnectionId asker, QueuedRead&& read) {
        return queue_.push(asker, std::move(read));
    }
    /// Those of this connection that were not begun.
    std::vector<QueuedRead> take_out(rpc::ConnectionId asker) { return queue_.take_out(asker); }
    /// As ReadQueue says.
    void hold(rpc::ConnectionId asker, bool is_held) { queue_.hold(asker, is_held); }
    void owe(rpc::ConnectionId asker, std::size_t bytes) { queue_.owe(asker, bytes); }
    void settle(rpc::ConnectionId asker, std::size_t bytes) { queue_.settle(asker, bytes); }
    std::size_t queued() const { return queue_.size(); }
    /// Finishes what is queued, then ends the thread and closes the reader.
    void stop();
    bool is_stopping() const { return stopping_; }

  private:
    void loop();

    const char* const name_;
    const int niceness_;
    std::unique_ptr<Reader> reader_;  // read thread only
    ReadQueue queue_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace knell
