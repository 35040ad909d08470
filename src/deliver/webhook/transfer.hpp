#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/time.hpp"
#include "config/webhook_spec.hpp"
#include "core/error.hpp"
#include "deliver/rendered_event.hpp"
#include "deliver/webhook/guarded_handle.hpp"
#include "deliver/webhook/response.hpp"

namespace knell {

/// One POST of one event: the request, and what comes back.  Libcurl holds pointers into it, so
/// it stays where it is.  One thread.
class WebhookTransfer {
  public:
    /// Signs the event and prepares the request; an error when the webhook cannot be used at
    /// all.
    static Result<std::unique_ptr<WebhookTransfer>> prepare(AttemptId attempt,
                                                            const WebhookSpec& spec,
                                                            const RenderedEvent& rendered,
                                                            std::string_view node_id, WallTime now);
    WebhookTransfer(const WebhookTransfer&) = delete;
    WebhookTransfer& operator=(const WebhookTransfer&) = delete;
    ~WebhookTransfer() = default;

    /// The transfer that libcurl speaks of.
    static WebhookTransfer& of(CURL* handle);

    AttemptId attempt() const { return attempt_; }
    CURL* handle() const { return handle_.get(); }
    /// Once libcurl is done with it.
    Outcome outcome(CURLcode code) const;

  private:
    WebhookTransfer(AttemptId attempt, const WebhookSpec& spec, AddressRule rule, WallTime now);

    void set_body(std::string body);
    void set_callbacks();

    static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);

    const AttemptId attempt_;
    const WallTime started_at_;
    std::string body_;

    ResponseHead head_;
    std::size_t body_bytes_ = 0;  // of the answer

    // Last, so that it goes first: it holds pointers to all of the above.
    GuardedHandle handle_;
};

}  // namespace knell
