#include "space/gateway_fetcher.hpp"

#include <utility>

#include <curl/curl.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "space/gateway_transfer.hpp"

namespace knell {

namespace {

CURLM* make_multi() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    CHECK(ready == CURLE_OK);
    auto* const multi = curl_multi_init();
    CHECK(multi != nullptr);
    CHECK(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(limits::gateways_max)) ==
          CURLM_OK);
    return multi;
}

}  // namespace

void GatewayFetcher::FreeMulti::operator()(void* multi) const {
    curl_multi_cleanup(multi);
}

GatewayFetcher::GatewayFetcher() : multi_(make_multi()) {}

GatewayFetcher::~GatewayFetcher() {
    for (const auto& [ticket, transfer] : transfers_) {
        curl_multi_remove_handle(multi_.get(), transfer->handle());
    }
}

void GatewayFetcher::start(const GatewayBoard::Request& request) {
    auto transfer = GatewayTransfer::prepare(request);
    if (!transfer) {
        finished_.push_back({request.ticket, std::unexpected(std::move(transfer.error()))});
        return;
    }
    CHECK(curl_multi_add_handle(multi_.get(), (*transfer)->handle()) == CURLM_OK);
    transfers_.emplace(request.ticket, std::move(*transfer));
}

void GatewayFetcher::wait(std::chrono::milliseconds most) {
    int running = 0;
    CHECK(curl_multi_perform(multi_.get(), &running) == CURLM_OK);
    take_ended();
    if (!finished_.empty()) return;
    CHECK(curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(most.count()), nullptr) ==
          CURLM_OK);
    CHECK(curl_multi_perform(multi_.get(), &running) == CURLM_OK);
    take_ended();
}

void GatewayFetcher::wake() {
    CHECK(curl_multi_wakeup(multi_.get()) == CURLM_OK);
}

void GatewayFetcher::take_ended() {
    int left = 0;
    while (const auto* message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        // Removing the handle takes the message away.
        const auto code = message->data.result;
        auto& transfer = GatewayTransfer::of(message->easy_handle);
        const auto ticket = transfer.ticket();
        finished_.push_back({ticket, transfer.outcome(code)});
        curl_multi_remove_handle(multi_.get(), transfer.handle());
        transfers_.erase(ticket);
    }
}

std::vector<GatewayFetcher::Finished> GatewayFetcher::take_finished() {
    return std::exchange(finished_, {});
}

}  // namespace knell
