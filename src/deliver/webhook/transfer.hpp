#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/time.hpp"
#include "config/webhook_spec.hpp"
#include "core/error.hpp"
#include "deliver/rendered_event.hpp"
#include "deliver/webhook/address_guard.hpp"
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
    struct FreeHandle {
        void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const { curl_slist_free_all(list); }
    };

    WebhookTransfer(AttemptId attempt, const WebhookSpec& spec, AddressRule rule, WallTime now);

    void add_header(std::string_view name, std::string_view value);
    void set_request(const std::string& url, std::string body);
    void set_bounds();
    void set_safety();
    void set_callbacks();
    /// Remembers why when it says no.
    bool may_connect_to(const std::optional<IpBytes>& address);

    static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
    static int on_connected(void* self, char* remote, char* local, int remote_port, int local_port);
    static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);

    const AttemptId attempt_;
    const AddressRule rule_;
    const std::chrono::seconds timeout_;
    const WallTime started_at_;
    std::string body_;
    std::unique_ptr<curl_slist, FreeList> headers_;

    ResponseHead head_;
    std::size_t body_bytes_ = 0;  // of the answer
    std::string refused_;
    std::array<char, CURL_ERROR_SIZE> error_{};

    // Last, so that it goes first: it holds pointers to all of the above.
    std::unique_ptr<CURL, FreeHandle> handle_;
};

}  // namespace knell
