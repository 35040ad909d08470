#include "deliver/webhook/sender.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <curl/curl.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "deliver/webhook/transfer.hpp"

namespace knell {

namespace {

CURLM* make_multi() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(ready == CURLE_OK);
    auto* const multi = curl_multi_init();
    CHECK(multi != nullptr);
    CHECK(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                            static_cast<long>(limits::webhook_idle_connections_max)) == CURLM_OK);
    return multi;
}

std::vector<curl_waitfd> as_curl_has_them(std::span<const pollfd> descriptors) {
    std::vector<curl_waitfd> all;
    for (const auto& one : descriptors) {
        if (one.fd < 0) continue;  // poll(2) passes over these
        short events = 0;
        if ((one.events & POLLIN) != 0) events |= CURL_WAIT_POLLIN;
        if ((one.events & POLLPRI) != 0) events |= CURL_WAIT_POLLPRI;
        if ((one.events & POLLOUT) != 0) events |= CURL_WAIT_POLLOUT;
        all.push_back({.fd = one.fd, .events = events, .revents = 0});
    }
    return all;
}

int bounded_milliseconds(std::chrono::milliseconds timeout) {
    return static_cast<int>(
        std::clamp<std::int64_t>(timeout.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace

void WebhookSender::FreeMulti::operator()(void* multi) const {
    curl_multi_cleanup(multi);
}

WebhookSender::WebhookSender(std::string node_id)
    : node_id_(std::move(node_id)), multi_(make_multi()) {}

WebhookSender::~WebhookSender() {
    for (const auto& [attempt, transfer] : transfers_) {
        curl_multi_remove_handle(multi_.get(), transfer->handle());
    }
}

void WebhookSender::start(AttemptId attempt, const WebhookSpec& spec, const RenderedEvent& rendered,
                          WallTime now) {
    CHECK(!transfers_.contains(attempt));
    auto transfer = WebhookTransfer::prepare(attempt, spec, rendered, node_id_, now);
    if (!transfer) {
        finished_.push_back({attempt, {.what = transfer.error().message}});
        return;
    }
    CHECK(curl_multi_add_handle(multi_.get(), (*transfer)->handle()) == CURLM_OK);
    transfers_.emplace(attempt, *std::move(transfer));
}

void WebhookSender::wait(std::span<pollfd> others, std::chrono::milliseconds timeout) {
    auto descriptors = as_curl_has_them(others);
    const int most = finished_.empty() ? bounded_milliseconds(timeout) : 0;
    CHECK(curl_multi_poll(multi_.get(), descriptors.data(),
                          static_cast<unsigned int>(descriptors.size()), most,
                          nullptr) == CURLM_OK);
    // Libcurl does not tell hang-ups from input; the kernel does.
    for (auto& one : others) one.revents = 0;
    poll(others.data(), others.size(), 0);

    int running = 0;
    CHECK(curl_multi_perform(multi_.get(), &running) == CURLM_OK);
    take_ended();
}

void WebhookSender::take_ended() {
    int left = 0;
    while (const auto* message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        // Removing the handle takes the message away.
        const auto code = message->data.result;
        const auto& transfer = WebhookTransfer::of(message->easy_handle);
        const auto attempt = transfer.attempt();
        finished_.push_back({attempt, transfer.outcome(code)});
        forget(attempt);
    }
}

std::vector<Finished> WebhookSender::take_finished() {
    return std::exchange(finished_, {});
}

void WebhookSender::cancel(AttemptId attempt) {
    forget(attempt);
    std::erase_if(finished_, [&](const Finished& one) { return one.attempt == attempt; });
}

void WebhookSender::forget(AttemptId attempt) {
    const auto found = transfers_.find(attempt);
    if (found == transfers_.end()) return;
    curl_multi_remove_handle(multi_.get(), found->second->handle());
    transfers_.erase(found);
}

void WebhookSender::wake() {
    curl_multi_wakeup(multi_.get());
}

}  // namespace knell
