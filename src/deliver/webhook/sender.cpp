#include "deliver/webhook/sender.hpp"

#include <utility>

#include <curl/curl.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "deliver/webhook/transfer.hpp"
#include "platform/poller.hpp"

namespace knell {

namespace {

/// Libcurl says here what it waits for.
int on_socket(CURL*, curl_socket_t socket, int what, void* sockets, void*) {
    auto& known = *static_cast<std::map<int, short>*>(sockets);
    if (what == CURL_POLL_REMOVE) {
        known.erase(socket);
        return 0;
    }
    short events = 0;
    if ((what & CURL_POLL_IN) != 0) events |= POLLIN;
    if ((what & CURL_POLL_OUT) != 0) events |= POLLOUT;
    known[socket] = events;
    return 0;
}

CURLM* make_multi(std::map<int, short>& sockets) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(ready == CURLE_OK);
    auto* const multi = curl_multi_init();
    CHECK(multi != nullptr);
    const auto set = [&](CURLMoption option, auto value) {
        CHECK(curl_multi_setopt(multi, option, value) == CURLM_OK);
    };
    set(CURLMOPT_MAXCONNECTS, static_cast<long>(limits::webhook_idle_connections_max));
    set(CURLMOPT_SOCKETFUNCTION, &on_socket);
    set(CURLMOPT_SOCKETDATA, &sockets);
    return multi;
}

/// The socket has something for whoever uses it, or the time of some has come.
void move_on(CURLM* multi, curl_socket_t socket) {
    int running = 0;
    // 0: libcurl looks for itself what it is, and knows better than we what a hang-up means.
    CHECK(curl_multi_socket_action(multi, socket, 0, &running) == CURLM_OK);
}

}  // namespace

void WebhookSender::FreeMulti::operator()(void* multi) const {
    curl_multi_cleanup(multi);
}

WebhookSender::WebhookSender(std::string node_id)
    : node_id_(std::move(node_id)), multi_(make_multi(sockets_)) {}

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

void WebhookSender::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto& [socket, events] : sockets_) {
        out.push_back({.fd = socket, .events = events, .revents = 0});
    }
}

std::optional<std::chrono::milliseconds> WebhookSender::max_wait() const {
    if (!finished_.empty()) return std::chrono::milliseconds{0};
    long millis = -1;
    CHECK(curl_multi_timeout(multi_.get(), &millis) == CURLM_OK);
    if (millis < 0) return std::nullopt;
    return std::chrono::milliseconds{millis};
}

void WebhookSender::step() {
    std::vector<pollfd> descriptors;
    add_descriptors(descriptors);
    look_now(descriptors);
    for (const auto& one : descriptors) {
        if (one.revents != 0) move_on(multi_.get(), one.fd);
    }
    move_on(multi_.get(), CURL_SOCKET_TIMEOUT);
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

}  // namespace knell
