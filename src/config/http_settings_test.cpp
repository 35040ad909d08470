#include "config/http_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddress, IsAnAddressAndAPort) {
    EXPECT_EQ(parse_listen_address("127.0.0.1:7717"), (ListenAddress{"127.0.0.1", 7717}));
    EXPECT_EQ(parse_listen_address("[::1]:0"), (ListenAddress{"::1", 0}));
    EXPECT_EQ(parse_listen_address("localhost:80"), (ListenAddress{"127.0.0.1", 80}));
    EXPECT_EQ(parse_listen_address("0.0.0.0:65535"), (ListenAddress{"0.0.0.0", 65535}));
    EXPECT_TRUE(parse_listen_address("off")->is_off());
    for (const auto* text : {"", "on", "7717", ":7717", "127.0.0.1", "127.0.0.1:",
                             "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x", "::1:80", "[::1]",
                             "[127.0.0.1]:80", "example.org:80", "127.1:80", "[]:80"}) {
        EXPECT_FALSE(parse_listen_address(text)) << text;
        EXPECT_THAT(why_not_a_listen_address(text).value_or(""), HasSubstr("ADDRESS:PORT")) << text;
    }
    EXPECT_FALSE(why_not_a_listen_address("off"));
}

TEST(ListenAddress, IsLoopbackOrNot) {
    for (const auto* text : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1"}) {
        EXPECT_TRUE(parse_listen_address(text)->is_loopback()) << text;
    }
    for (const auto* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[fe80::1]:1", "128.0.0.1:1"}) {
        EXPECT_FALSE(parse_listen_address(text)->is_loopback()) << text;
    }
}

TEST(HttpSettings, ListenBeyondLoopbackOnlyWhenToldTo) {
    HttpSettings settings{.listen = "127.0.0.1:7717"};
    EXPECT_FALSE(why_not_listen(settings));
    settings.listen = "off";
    EXPECT_FALSE(why_not_listen(settings));
    settings.listen = "0.0.0.0:7717";
    EXPECT_THAT(why_not_listen(settings).value_or(""), HasSubstr("behind_proxy"));
    settings.behind_proxy = true;
    EXPECT_FALSE(why_not_listen(settings));
    settings.behind_proxy = false;
    settings.trusted_network = true;
    EXPECT_FALSE(why_not_listen(settings));
}

TEST(HttpSettings, NameHostsWithoutSchemeAndPort) {
    for (const auto* text : {"knell.example.org", "10.0.0.1", "[fe80::1]", "a_b"}) {
        EXPECT_FALSE(why_not_a_host(text)) << text;
    }
    for (const auto* text : {"", "https://a", "a:80", "a/b", "a b", "*"}) {
        EXPECT_TRUE(why_not_a_host(text)) << text;
    }
}

}  // namespace
}  // namespace knell
