#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "space/gateway_board.hpp"

namespace knell {

class GatewayTransfer;

/// The requests to other gateways, none waiting for another.  One thread, except `wake`.
class GatewayFetcher {
  public:
    GatewayFetcher();
    GatewayFetcher(const GatewayFetcher&) = delete;
    GatewayFetcher& operator=(const GatewayFetcher&) = delete;
    ~GatewayFetcher();

    struct Fetched {
        int status = 0;  // 200 or 304
        std::string body;
    };
    struct Finished {
        std::uint64_t ticket = 0;
        Result<Fetched> fetched;  // anything but 200 and 304 is an error, told in words
    };

    /// How it went comes out of `take_finished`, also when it could not even begin.
    void start(const GatewayBoard::Request& request);
    /// Waits until something happens to a request, `wake` or the time, then moves them on.
    void wait(std::chrono::milliseconds most);
    std::vector<Finished> take_finished();
    bool is_idle() const { return transfers_.empty() && finished_.empty(); }

    /// Any thread: `wait` returns soon, or does not begin.
    void wake();

  private:
    struct FreeMulti {
        void operator()(void* multi) const;
    };

    void take_ended();

    const std::unique_ptr<void, FreeMulti> multi_;  // a CURLM
    std::map<std::uint64_t, std::unique_ptr<GatewayTransfer>> transfers_;
    std::vector<Finished> finished_;
};

}  // namespace knell
