#include "deliver/webhook/transfer.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/text.hpp"
#include "core/limits.hpp"
#include "deliver/webhook/cloud_event.hpp"
#include "deliver/webhook/signature.hpp"
#include "deliver/webhook/url.hpp"

namespace knell {

Result<std::unique_ptr<WebhookTransfer>> WebhookTransfer::prepare(AttemptId attempt,
                                                                  const WebhookSpec& spec,
                                                                  const RenderedEvent& rendered,
                                                                  std::string_view node_id,
                                                                  WallTime now) {
    const auto rule = address_rule(spec);
    if (!rule) return std::unexpected(rule.error());
    if (has_control_character(rendered.id)) {
        return fail(ErrorCode::internal, "the event's id cannot be sent in a header");
    }
    auto body = cloud_event(rendered, node_id);
    const auto timestamp_s =
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    const auto signature = signature_header({rendered.id, timestamp_s, body}, spec.secrets);
    if (!signature) return std::unexpected(signature.error());

    std::unique_ptr<WebhookTransfer> transfer(new WebhookTransfer(attempt, spec, *rule, now));
    transfer->handle_.add_header("Content-Type", cloud_event_content_type);
    transfer->handle_.add_header("webhook-id", rendered.id);
    transfer->handle_.add_header("webhook-timestamp", std::to_string(timestamp_s));
    transfer->handle_.add_header("webhook-signature", *signature);
    // Empty is "leave it out": most receivers do not answer it, and waiting for them costs a
    // second.
    transfer->handle_.add_header("Expect", "");
    transfer->set_body(std::move(body));
    transfer->set_callbacks();
    return transfer;
}

WebhookTransfer::WebhookTransfer(AttemptId attempt, const WebhookSpec& spec, AddressRule rule,
                                 WallTime now)
    : attempt_(attempt),
      started_at_(now),
      handle_(spec.url, rule,
              std::clamp(spec.timeout, std::chrono::seconds{1}, limits::webhook_timeout_max)) {
    set_option(handle(), CURLOPT_PRIVATE, this);
}

WebhookTransfer& WebhookTransfer::of(CURL* handle) {
    WebhookTransfer* transfer = nullptr;
    CHECK(curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer) == CURLE_OK);
    return *transfer;
}

void WebhookTransfer::set_body(std::string body) {
    body_ = std::move(body);
    set_option(handle(), CURLOPT_POST, 1L);
    set_option(handle(), CURLOPT_POSTFIELDS, body_.data());
    set_option(handle(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
}

void WebhookTransfer::set_callbacks() {
    set_option(handle(), CURLOPT_HEADERFUNCTION, &WebhookTransfer::on_header);
    set_option(handle(), CURLOPT_HEADERDATA, this);
    set_option(handle(), CURLOPT_WRITEFUNCTION, &WebhookTransfer::on_body);
    set_option(handle(), CURLOPT_WRITEDATA, this);
}

Outcome WebhookTransfer::outcome(CURLcode code) const {
    curl_off_t connected_after_us = 0;
    curl_easy_getinfo(handle(), CURLINFO_PRETRANSFER_TIME_T, &connected_after_us);
    // A date to retry after is compared with the time of the start, not of the answer: at most a
    // timeout more patience than was asked for.
    return outcome_of(head_,
                      {.code = code,
                       .error = handle_.error(),
                       .refused = handle_.refused(),
                       .was_connected = connected_after_us > 0,
                       .timeout = handle_.timeout()},
                      started_at_);
}

std::size_t WebhookTransfer::on_header(char* bytes, std::size_t size, std::size_t count,
                                       void* self) {
    auto& transfer = *static_cast<WebhookTransfer*>(self);
    return transfer.head_.add_line({bytes, size * count}) ? size * count : 0;
}

/// Read so that the connection can be used again, and thrown away.
std::size_t WebhookTransfer::on_body(char* /*bytes*/, std::size_t size, std::size_t count,
                                     void* self) {
    auto& transfer = *static_cast<WebhookTransfer*>(self);
    transfer.body_bytes_ += size * count;
    return transfer.body_bytes_ <= limits::webhook_body_bytes_max ? size * count : 0;
}

}  // namespace knell
