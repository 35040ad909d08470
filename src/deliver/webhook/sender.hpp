#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

#include "base/time.hpp"
#include "config/webhook_spec.hpp"
#include "deliver/rendered_event.hpp"

namespace knell {

class WebhookTransfer;

/// All webhooks' attempts, none waiting for another.  One thread, which waits for the descriptors
/// and the time and then calls `step`; nothing here blocks.
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

    /// What to poll for: the sockets that transfers wait on.
    void add_descriptors(std::vector<pollfd>& out) const;
    /// After how long to call `step` though none of them is ready.
    std::optional<std::chrono::milliseconds> max_wait() const;

    /// Moves the transfers on.
    void step();

    std::vector<Finished> take_finished();
    /// The attempt is forgotten: it has no outcome.
    void cancel(AttemptId attempt);
    std::size_t under_way() const { return transfers_.size(); }

  private:
    struct FreeMulti {
        void operator()(void* multi) const;
    };

    void take_ended();
    void forget(AttemptId attempt);

    const std::string node_id_;
    // Before libcurl's handle, which changes it until it is gone.
    std::map<int, short> sockets_;                  // with the events of poll(2)
    const std::unique_ptr<void, FreeMulti> multi_;  // a CURLM
    std::map<AttemptId, std::unique_ptr<WebhookTransfer>> transfers_;
    std::vector<Finished> finished_;
};

}  // namespace knell
