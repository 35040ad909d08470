#include "deliver/webhook/transfer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/check.hpp"
#include "base/text.hpp"
#include "core/limits.hpp"
#include "deliver/webhook/cloud_event.hpp"
#include "deliver/webhook/signature.hpp"
#include "deliver/webhook/url.hpp"
#include "platform/version.hpp"

namespace knell {

namespace {

/// An option that is not taken could be the one that keeps us safe.
template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
    CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

long milliseconds_of(std::chrono::milliseconds duration) {
    return static_cast<long>(duration.count());
}

}  // namespace

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
    transfer->add_header("Content-Type", cloud_event_content_type);
    transfer->add_header("webhook-id", rendered.id);
    transfer->add_header("webhook-timestamp", std::to_string(timestamp_s));
    transfer->add_header("webhook-signature", *signature);
    // Empty is "leave it out": most receivers do not answer it, and waiting for them costs a
    // second.
    transfer->add_header("Expect", "");
    transfer->set_request(spec.url, std::move(body));
    transfer->set_bounds();
    transfer->set_safety();
    transfer->set_callbacks();
    return transfer;
}

WebhookTransfer::WebhookTransfer(AttemptId attempt, const WebhookSpec& spec, AddressRule rule,
                                 WallTime now)
    : attempt_(attempt),
      rule_(rule),
      timeout_(std::clamp(spec.timeout, std::chrono::seconds{1}, limits::webhook_timeout_max)),
      started_at_(now),
      handle_(curl_easy_init()) {
    CHECK(handle_);
    set(handle(), CURLOPT_PRIVATE, this);
}

WebhookTransfer& WebhookTransfer::of(CURL* handle) {
    WebhookTransfer* transfer = nullptr;
    CHECK(curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer) == CURLE_OK);
    return *transfer;
}

void WebhookTransfer::add_header(std::string_view name, std::string_view value) {
    auto* const longer =
        curl_slist_append(headers_.get(), fmt::format("{}: {}", name, value).c_str());
    CHECK(longer != nullptr);
    (void)headers_.release();  // it is the head of the longer list
    headers_.reset(longer);
}

void WebhookTransfer::set_request(const std::string& url, std::string body) {
    body_ = std::move(body);
    set(handle(), CURLOPT_URL, url.c_str());
    set(handle(), CURLOPT_POST, 1L);
    set(handle(), CURLOPT_POSTFIELDS, body_.data());
    set(handle(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
    set(handle(), CURLOPT_HTTPHEADER, headers_.get());
    set(handle(), CURLOPT_USERAGENT, fmt::format("knell/{}", version).c_str());
    // A libcurl that was built without HTTP/2 refuses this and speaks 1.1, which will do.
    curl_easy_setopt(handle(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
}

/// A receiver that accepts and says nothing, or a byte now and then, costs this much and no more.
void WebhookTransfer::set_bounds() {
    const auto connect_timeout = std::min(timeout_, limits::webhook_connect_timeout_max);
    set(handle(), CURLOPT_TIMEOUT_MS, milliseconds_of(timeout_));
    set(handle(), CURLOPT_CONNECTTIMEOUT_MS, milliseconds_of(connect_timeout));
    // Otherwise giving up on a name that does not resolve waits for the resolver all the same, and
    // every other delivery waits with it.
    set(handle(), CURLOPT_QUICK_EXIT, 1L);
    set(handle(), CURLOPT_NOSIGNAL, 1L);
}

void WebhookTransfer::set_safety() {
    set(handle(), CURLOPT_PROTOCOLS_STR, "http,https");
    set(handle(), CURLOPT_FOLLOWLOCATION, 0L);
    // A proxy would connect for us, to where the address guard does not see.
    set(handle(), CURLOPT_PROXY, "");
    set(handle(), CURLOPT_NOPROXY, "*");
    set(handle(), CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(handle(), CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(handle(), CURLOPT_SSL_VERIFYPEER, 1L);
    set(handle(), CURLOPT_SSL_VERIFYHOST, 2L);
}

void WebhookTransfer::set_callbacks() {
    set(handle(), CURLOPT_OPENSOCKETFUNCTION, &WebhookTransfer::on_open_socket);
    set(handle(), CURLOPT_OPENSOCKETDATA, this);
    set(handle(), CURLOPT_PREREQFUNCTION, &WebhookTransfer::on_connected);
    set(handle(), CURLOPT_PREREQDATA, this);
    set(handle(), CURLOPT_HEADERFUNCTION, &WebhookTransfer::on_header);
    set(handle(), CURLOPT_HEADERDATA, this);
    set(handle(), CURLOPT_WRITEFUNCTION, &WebhookTransfer::on_body);
    set(handle(), CURLOPT_WRITEDATA, this);
    set(handle(), CURLOPT_ERRORBUFFER, error_.data());
}

Outcome WebhookTransfer::outcome(CURLcode code) const {
    curl_off_t connected_after_us = 0;
    curl_easy_getinfo(handle(), CURLINFO_PRETRANSFER_TIME_T, &connected_after_us);
    // A date to retry after is compared with the time of the start, not of the answer: at most a
    // timeout more patience than was asked for.
    return outcome_of(head_,
                      {.code = code,
                       .error = error_.data(),
                       .refused = refused_,
                       .was_connected = connected_after_us > 0,
                       .timeout = timeout_},
                      started_at_);
}

bool WebhookTransfer::may_connect_to(const std::optional<IpBytes>& address) {
    const auto why_not = address ? refusal(*address, rule_) : "it is not an internet address";
    if (why_not) refused_ = *why_not;
    return !why_not;
}

/// Every connection begins here, with the very address that will be connected to.
curl_socket_t WebhookTransfer::on_open_socket(void* self, curlsocktype purpose,
                                              curl_sockaddr* address) {
    auto& transfer = *static_cast<WebhookTransfer*>(self);
    const auto bytes = ip_bytes(&address->addr, address->addrlen);
    if (purpose != CURLSOCKTYPE_IPCXN || !transfer.may_connect_to(bytes)) return CURL_SOCKET_BAD;
    // Hooks are started from this thread: none may inherit a connection.
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// A connection that is used again was opened under the rule of another webhook.
int WebhookTransfer::on_connected(void* self, char* remote, char* /*local*/, int /*remote_port*/,
                                  int /*local_port*/) {
    auto& transfer = *static_cast<WebhookTransfer*>(self);
    return transfer.may_connect_to(ip_bytes(remote)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
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
