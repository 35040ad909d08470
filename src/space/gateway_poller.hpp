#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "config/config_holder.hpp"
#include "space/gateway_board.hpp"
#include "space/gateway_fetcher.hpp"

namespace knell {

/// The thread that asks other gateways for their picture.  It begins when somebody wants to see
/// them for the first time, and asks only while somebody does (limits::gateway_interest): a daemon
/// at which nobody looks stays asleep.
class GatewayPoller {
  public:
    /// `config` outlives this.
    explicit GatewayPoller(const ConfigHolder& config) : config_(config) {}
    GatewayPoller(const GatewayPoller&) = delete;
    GatewayPoller& operator=(const GatewayPoller&) = delete;
    ~GatewayPoller() { stop(); }

    /// One thread.  What is known now; they are asked again from now on.
    std::vector<GatewayReport> look(SteadyTime now);
    void stop();

  private:
    struct Shared {
        GatewayBoard board;
        std::optional<SteadyTime> looked_at;
    };

    void loop();
    /// Starts what is due; gives how long to wait.
    std::chrono::milliseconds begin_due();
    void tell_board(std::vector<GatewayFetcher::Finished> finished);

    const ConfigHolder& config_;
    std::atomic<bool> stopping_ = false;
    Guarded<Shared> shared_;
    GatewayFetcher fetcher_;  // of the thread, except `wake`
    std::thread thread_;
};

}  // namespace knell
