#pragma once

#include <chrono>

#include "deliver/webhook/sender.hpp"
#include "platform/poller.hpp"

namespace knell::testing {

/// A sender with a loop of its own.
class PolledSender : public WebhookSender {
  public:
    using WebhookSender::WebhookSender;

    /// Until something happens to a transfer, but at most for `timeout`; then moves them on.
    void wait(std::chrono::milliseconds timeout) {
        constexpr SteadyTime start{};
        Awaited awaited{.descriptors = {}, .until = start + timeout};
        add_descriptors(awaited.descriptors);
        if (const auto most = max_wait()) awaited.no_later_than(start + *most);
        poller_.wait(std::move(awaited), start);
        step();
    }

  private:
    Poller poller_;
};

}  // namespace knell::testing
