#include "config/webhook_url_check.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(WebhookUrlCheck, MayLeaveTheMachineOnlyByHttps) {
    for (const auto* url :
         {"https://example.org/knell", "https://example.org", "https://example.org:8443/a?b=c",
          "https://[2001:db8::1]:443/", "https://192.0.2.7/x", "http://127.0.0.1:9000/",
          "http://127.8.9.10/", "http://localhost:80/x", "http://[::1]:9000/x?y"}) {
        EXPECT_FALSE(why_not_a_webhook_url(url)) << url;
    }
    for (const auto* url : {"http://example.org/", "http://127.0.0.1.example.org/",
                            "http://localhost.example.org/", "http://[2001:db8::1]/",
                            "http://10.0.0.1/", "http://0.0.0.0/", "http://[::ffff:10.0.0.1]/"}) {
        EXPECT_TRUE(why_not_a_webhook_url(url)) << url;
    }
}

TEST(WebhookUrlCheck, IsAWholeAddressAndNothingElse) {
    for (const auto* url : {"",
                            "example.org",
                            "ftp://example.org/",
                            "https:/example.org",
                            "https://",
                            "https:///x",
                            "https://:80/",
                            "https://example.org:0/",
                            "https://example.org:65536/",
                            "https://example.org:/",
                            "https://example.org:x/",
                            "https://[::1",
                            "https://[nonsense]/",
                            "https://[::1]x/",
                            "https://exam ple.org/",
                            "https://example.org/\n",
                            "https://example.org\\@evil.example/",
                            "https://exämple.org/",
                            "https://a?b#c",
                            "file:///etc/passwd",
                            "https://a%2fb/"}) {
        EXPECT_TRUE(why_not_a_webhook_url(url)) << url;
    }
    EXPECT_TRUE(why_not_a_webhook_url("https://example.org/" + std::string(3000, 'a')));
}

TEST(WebhookUrlCheck, HoldsNoPasswordAndTheComplaintDoesNotRepeatIt) {
    for (const auto* url : {"https://ann:hunter2@example.org/", "https://hunter2@example.org/",
                            "http://hunter2@127.0.0.1/", "https://example.org/#hunter2"}) {
        const auto why = why_not_a_webhook_url(url);
        ASSERT_TRUE(why) << url;
        EXPECT_FALSE(why->contains("hunter2"));
    }
}

}  // namespace
}  // namespace knell
