#include "deliver/webhook/url.hpp"

#include <memory>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/check.hpp"

namespace knell {

namespace {

struct FreeUrl {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

/// "" when the URL has no such part.
std::string part_of(const Url& url, CURLUPart part) {
    char* text = nullptr;
    if (curl_url_get(url.get(), part, &text, 0) != CURLUE_OK) return {};
    std::string copy = text;
    curl_free(text);
    return copy;
}

}  // namespace

Result<AddressRule> address_rule(const std::string& address, bool allow_internal) {
    const Url url(curl_url());
    CHECK(url);
    const auto code = curl_url_set(url.get(), CURLUPART_URL, address.c_str(), 0);
    if (code != CURLUE_OK && code != CURLUE_UNSUPPORTED_SCHEME) {
        return bad_field("url", fmt::format("not a URL ({}); https://HOST/PATH is expected",
                                            curl_url_strerror(code)));
    }
    const auto scheme = part_of(url, CURLUPART_SCHEME);
    if (scheme != "https" && scheme != "http") {
        return bad_field("url", "must begin with https://");
    }
    // libcurl has normalised the host: 127.1 is 127.0.0.1 here, as it will be when it connects.
    const AddressRule rule{.allow_internal = allow_internal,
                           .host_is_loopback = is_loopback_host(part_of(url, CURLUPART_HOST)),
                           .plain_http = scheme == "http"};
    if (rule.plain_http && !rule.host_is_loopback) {
        return bad_field("url",
                         "http:// is for loopback only, where nobody listens in; "
                         "use https://");
    }
    return rule;
}

Result<AddressRule> address_rule(const WebhookSpec& spec) {
    return address_rule(spec.url, spec.allow_internal);
}

}  // namespace knell
