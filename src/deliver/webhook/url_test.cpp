#include "deliver/webhook/url.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

Result<AddressRule> rule_of(std::string url) {
    return address_rule({.url = std::move(url)});
}

TEST(WebhookUrl, HttpsGoesAnywhereThatIsNotInternal) {
    const auto rule = rule_of("https://example.com/hook?token=t");
    ASSERT_TRUE(rule);
    EXPECT_FALSE(rule->allow_internal);
    EXPECT_FALSE(rule->host_is_loopback);
    EXPECT_FALSE(rule->plain_http);
    EXPECT_TRUE(address_rule({.url = "https://10.0.0.1/", .allow_internal = true})->allow_internal);
}

TEST(WebhookUrl, HttpGoesToLoopbackOnly) {
    for (const auto* url : {"http://127.0.0.1:80/", "http://localhost/x", "http://[::1]:8080/",
                            "http://127.1/", "HTTP://LOCALHOST/"}) {
        const auto rule = rule_of(url);
        ASSERT_TRUE(rule) << url;
        EXPECT_TRUE(rule->host_is_loopback && rule->plain_http) << url;
    }
    for (const auto* url : {"http://example.com/", "http://10.0.0.1/", "http://127.0.0.1@evil.com/",
                            "http://localhost.evil.com/", "http://0.0.0.0/"}) {
        const auto rule = rule_of(url);
        ASSERT_FALSE(rule) << url;
        EXPECT_EQ(rule.error().message,
                  "url: http:// is for loopback only, where nobody listens in; use https://");
    }
}

TEST(WebhookUrl, EverythingElseIsRefusedWithoutRepeatingIt) {
    for (const auto* url : {"", "token42", "ftp://token42/", "file:///token42", "https://",
                            "https://token42\r\nX: y/", "https://ho st/token42", "//token42/x",
                            "gopher://127.0.0.1/token42", "https://:token42"}) {
        const auto rule = rule_of(url);
        ASSERT_FALSE(rule) << url;
        EXPECT_EQ(rule.error().field, "url");
        EXPECT_EQ(rule.error().message.find("token42"), std::string::npos) << rule.error().message;
    }
}

}  // namespace
}  // namespace knell
