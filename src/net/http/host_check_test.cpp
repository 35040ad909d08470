#include "net/http/host_check.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

const std::vector<std::string> proxied{"Knell.example.org"};

bool our_host(std::string_view host, const std::vector<std::string>& hosts = {}) {
    return is_our_host(parse_authority(host), "192.168.1.5", hosts);
}

bool our_origin(std::string_view origin, std::string_view host,
                const std::vector<std::string>& hosts = {}) {
    return is_our_origin(origin, parse_authority(host), hosts);
}

TEST(Authority, IsAHostAndPerhapsAPort) {
    EXPECT_EQ(parse_authority("LocalHost:7717").host, "localhost");
    EXPECT_EQ(parse_authority("localhost:7717").port, "7717");
    EXPECT_EQ(parse_authority("[::1]").host, "[::1]");
    EXPECT_EQ(parse_authority("[::1]:80").port, "80");
    for (const auto* text : {"", ":80", "a b", "a:b", "a:123456", "[::1", "::1", "[]", "a@b", "a/b",
                             "[::1]x:80", "a,b"}) {
        EXPECT_EQ(parse_authority(text).host, "") << text;
    }
}

TEST(HostCheck, KnowsLoopbackWhateverThePort) {
    for (const auto* host : {"localhost", "localhost:7717", "127.0.0.1:9", "[::1]:7717",
                             "LOCALHOST", "192.168.1.5:7717"}) {
        EXPECT_TRUE(our_host(host)) << host;
    }
}

TEST(HostCheck, RefusesNamesThatAnybodyMayHavePointedHere) {
    for (const auto* host : {"evil.example", "evil.example:7717", "localhost.evil.example",
                             "127.0.0.1.nip.io", "127.0.0.2", "0.0.0.0", "", "a b"}) {
        EXPECT_FALSE(our_host(host)) << host;
    }
}

TEST(HostCheck, TakesTheNamesOfAProxy) {
    EXPECT_TRUE(our_host("knell.example.org", proxied));
    EXPECT_TRUE(our_host("knell.example.org:443", proxied));
    EXPECT_FALSE(our_host("www.knell.example.org", proxied));
}

TEST(HostCheck, TakesPagesThatWereServedByTheSameHost) {
    EXPECT_TRUE(our_origin("http://localhost:7717", "localhost:7717"));
    EXPECT_TRUE(our_origin("http://localhost", "localhost:80"));
    EXPECT_TRUE(our_origin("https://knell.example.org", "knell.example.org"));
    EXPECT_TRUE(our_origin("https://knell.example.org", "127.0.0.1:7717", proxied));
}

TEST(HostCheck, RefusesForeignPages) {
    for (const auto* origin : {"http://evil.example", "http://localhost:3000", "http://localhost",
                               "http://127.0.0.1:7717", "null", "", "file://", "http://",
                               "chrome-extension://abc", "https://localhost:7717@evil.example"}) {
        EXPECT_FALSE(our_origin(origin, "localhost:7717", proxied)) << origin;
    }
}

}  // namespace
}  // namespace knell::net::http
