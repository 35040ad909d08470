#include "space/gateway_poller.hpp"

#include <algorithm>

#include <pthread.h>

#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell {

namespace {

/// When nobody looks; `wake` ends it.
constexpr std::chrono::milliseconds long_wait = std::chrono::hours{1};

}  // namespace

std::vector<GatewayReport> GatewayPoller::look(SteadyTime now) {
    const auto config = config_.current();
    if (config->gateways.empty()) return {};
    std::vector<GatewayReport> reports;
    {
        const auto shared = shared_.lock();
        shared->board.set_gateways(config->gateways);
        shared->looked_at = now;
        reports = shared->board.reports();
    }
    if (!thread_.joinable() && !stopping_) thread_ = std::thread([this] { loop(); });
    fetcher_.wake();
    return reports;
}

void GatewayPoller::stop() {
    stopping_ = true;
    if (!thread_.joinable()) return;
    fetcher_.wake();
    thread_.join();
}

void GatewayPoller::loop() {
    pthread_setname_np(pthread_self(), "knell-space");
    while (!stopping_) {
        fetcher_.wait(begin_due());
        tell_board(fetcher_.take_finished());
    }
}

std::chrono::milliseconds GatewayPoller::begin_due() {
    const auto now = read_clocks().steady;
    std::vector<GatewayBoard::Request> requests;
    auto wait = long_wait;
    {
        const auto shared = shared_.lock();
        shared->board.set_gateways(config_.current()->gateways);
        if (shared->looked_at && now - *shared->looked_at <= limits::gateway_interest) {
            requests = shared->board.take_due(now);
            if (const auto due = shared->board.next_due()) {
                const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - now);
                wait = std::clamp(left, std::chrono::milliseconds{0}, long_wait);
            }
        }
    }
    // Reads files: not under the lock, which the read thread waits for.
    for (const auto& request : requests) fetcher_.start(request);
    return wait;
}

void GatewayPoller::tell_board(std::vector<GatewayFetcher::Finished> finished) {
    if (finished.empty()) return;
    const auto now = read_clocks();
    for (auto& [ticket, fetched] : finished) {
        // A picture of thousands of sessions takes a while to read.
        std::optional<Result<GatewayAnswer>> answer;
        if (fetched && fetched->status == 200) answer = read_gateway_answer(fetched->body);
        const auto shared = shared_.lock();
        auto& board = shared->board;
        if (!fetched) {
            board.failed(ticket, std::move(fetched.error().message), now.steady);
        } else if (!answer) {
            board.unchanged(ticket, now);
        } else if (*answer) {
            board.heard(ticket, std::move(**answer), now);
        } else {
            board.failed(ticket, std::move(answer->error().message), now.steady);
        }
    }
}

}  // namespace knell
