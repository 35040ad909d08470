#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/bounded_queue.hpp"
#include "core/limits.hpp"
#include "store/store.hpp"

namespace knell {

/// A thread with a reader of its own: a long listing never delays a commit.
class ReadThread {
  public:
    using Work = std::move_only_function<void(Reader&)>;

    explicit ReadThread(std::unique_ptr<Reader> reader)
        : reader_(std::move(reader)),
          queue_(limits::queue_reads_max),
          thread_([this] { loop(); }) {}
    ~ReadThread() { stop(); }

    /// False when the queue is full.
    bool submit(Work&& work) { return queue_.push(std::move(work)); }
    /// Finishes what is queued, then ends the thread and closes the reader.
    void stop();

  private:
    void loop();

    std::unique_ptr<Reader> reader_;  // read thread only
    BoundedQueue<Work> queue_;
    std::thread thread_;
};

}  // namespace knell
