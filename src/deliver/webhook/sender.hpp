#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "config/webhook_spec.hpp"
#include "deliver/rendered_event.hpp"

namespace knell {

class WebhookTransfer;

/// All webhooks' attempts, none waiting for another.  One thread, except `wake`.
class WebhookSender {
  public:
    explicit WebhookSender(std::string node_id);
    WebhookSender(const WebhookSender&) = delete;
    WebhookSender& operator=(const WebhookSender&) = delete;
    ~WebhookSender();

    /// Begins an attempt; how it went comes out of `take_finished`, also when it could not even
    /// begin (no secret, no URL).
    void start(AttemptId attempt, const WebhookSpec& spec, const RenderedEvent& rendered,
               WallTime now);

    /// Waits until something happens here or on `others`, which are as for poll(2), but at most
    /// for `timeout`; then moves the transfers on.  May return early with nothing to show.
    void wait(std::span<pollfd> others, std::chrono::milliseconds timeout);

    std::vector<Finished> take_finished();
    /// The attempt is forgotten: it has no outcome.
    void cancel(AttemptId attempt);
    std::size_t under_way() const { return transfers_.size(); }

    /// From any thread: `wait` returns soon, or does not begin.
    void wake();

  private:
    struct FreeMulti {
        void operator()(void* multi) const;
    };

    void take_ended();
    void forget(AttemptId attempt);

    const std::string node_id_;
    const std::unique_ptr<void, FreeMulti> multi_;  // a CURLM
    std::map<AttemptId, std::unique_ptr<WebhookTransfer>> transfers_;
    std::vector<Finished> finished_;
};

}  // namespace knell
