#include "space/gateway_transfer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "deliver/webhook/secret.hpp"
#include "deliver/webhook/url.hpp"

namespace knell {

namespace {

std::string address_of(const GatewaySpec& spec) {
    auto base = spec.url;
    base.erase(base.find_last_not_of('/') + 1);
    return base + "/v1/space/activity";
}

/// What RFC 6750 lets a token be: anything else could end the header.
bool is_token(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string reason_of(long status) {
    if (status == 401 || status == 403)
        return fmt::format("it refuses the token (HTTP {})", status);
    return fmt::format("HTTP {}", status);
}

}  // namespace

Result<std::unique_ptr<GatewayTransfer>> GatewayTransfer::prepare(
    const GatewayBoard::Request& request) {
    const auto rule = address_rule(request.spec.url, request.spec.allow_internal);
    if (!rule) return std::unexpected(rule.error());
    const auto token = read_secret({.file = request.spec.token_file, .variable = {}});
    if (!token) return std::unexpected(token.error());
    if (!is_token(*token)) {
        return fail(ErrorCode::invalid_params,
                    fmt::format("{} holds no token: one line of letters and digits is expected",
                                request.spec.token_file));
    }
    std::unique_ptr<GatewayTransfer> transfer(new GatewayTransfer(request, *rule));
    transfer->handle_.add_header("Authorization", "Bearer " + *token);
    transfer->handle_.add_header("Accept", "application/json");
    if (!request.etag.empty()) transfer->handle_.add_header("If-None-Match", request.etag);
    return transfer;
}

GatewayTransfer::GatewayTransfer(const GatewayBoard::Request& request, AddressRule rule)
    : ticket_(request.ticket), handle_(address_of(request.spec), rule, limits::gateway_timeout) {
    set_option(handle(), CURLOPT_PRIVATE, this);
    set_option(handle(), CURLOPT_WRITEFUNCTION, &GatewayTransfer::on_body);
    set_option(handle(), CURLOPT_WRITEDATA, this);
}

GatewayTransfer& GatewayTransfer::of(CURL* handle) {
    GatewayTransfer* transfer = nullptr;
    CHECK(curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer) == CURLE_OK);
    return *transfer;
}

Result<GatewayFetcher::Fetched> GatewayTransfer::outcome(CURLcode code) {
    if (is_too_long_) {
        return fail(ErrorCode::limit,
                    fmt::format("its answer is longer than {} bytes", limits::answer_bytes_max));
    }
    if (!handle_.refused().empty()) return fail(ErrorCode::unreachable, handle_.refused());
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return fail(ErrorCode::unreachable,
                    fmt::format("it did not answer within {} s", handle_.timeout().count()));
    }
    if (code != CURLE_OK) {
        const std::string_view words = handle_.error();
        return fail(ErrorCode::unreachable,
                    std::string(words.empty() ? curl_easy_strerror(code) : words));
    }
    long status = 0;
    CHECK(curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status) == CURLE_OK);
    if (status != 200 && status != 304) return fail(ErrorCode::unreachable, reason_of(status));
    return GatewayFetcher::Fetched{static_cast<int>(status), std::move(body_)};
}

std::size_t GatewayTransfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<GatewayTransfer*>(self);
    const auto more = size * count;
    if (transfer.body_.size() + more > limits::answer_bytes_max) {
        transfer.is_too_long_ = true;
        return 0;
    }
    transfer.body_.append(bytes, more);
    return more;
}

}  // namespace knell
