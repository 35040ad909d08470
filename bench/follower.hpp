#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "platform/fd.hpp"

namespace knell::bench {

/// A connection that has subscribed to events, with JSON `params`, and has read the answer.
Fd subscribe(const std::string& socket, const std::string& params);

/// A subscriber on a thread of its own that reads as fast as it can and only counts lines, because
/// it shares the cores with the daemon it measures.
class Follower {
  public:
    /// Subscribes after event `after`; the thread ends when `count` more have come.
    Follower(const std::string& socket, std::int64_t after, std::size_t count);
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    bool is_done() const { return done_; }
    /// Waits for the last event; throws Failed when the feed ended before it.
    void finish();
    /// When each event came, on the clock of seconds_now.  After `finish`.
    const std::vector<double>& arrivals() const { return arrivals_; }

  private:
    void read(std::size_t count);

    Fd socket_;
    std::vector<double> arrivals_;
    std::atomic<bool> done_{false};
    std::thread thread_;
};

}  // namespace knell::bench
