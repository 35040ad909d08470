#include "deliver/webhook/address_guard.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace knell {
namespace {

std::optional<std::string> refusal_of(const char* address, AddressRule rule = {}) {
    const auto bytes = ip_bytes(address);
    return bytes ? refusal(*bytes, rule) : std::optional<std::string>("is no address");
}

TEST(AddressGuard, RefusesWhatIsInternal) {
    for (const auto* address :
         {"127.0.0.1",  "127.255.255.254", "10.0.0.1",        "10.255.255.255",
          "172.16.0.1", "172.31.255.255",  "192.168.0.1",     "169.254.169.254",
          "100.64.0.1", "100.127.255.255", "0.0.0.0",         "0.1.2.3",
          "192.0.0.8",  "198.18.0.1",      "198.19.255.255",  "224.0.0.1",
          "239.1.1.1",  "240.0.0.1",       "255.255.255.255", "::",
          "::1",        "fe80::1",         "febf::1",         "fec0::1",
          "fc00::1",    "fdff::1",         "ff02::1",         "::10.0.0.1",
          "100::1",     "64:ff9b:1::1"}) {
        EXPECT_TRUE(refusal_of(address)) << address;
        EXPECT_FALSE(refusal_of(address, {.allow_internal = true})) << address;
    }
}

TEST(AddressGuard, RefusesInternalIpv4AddressesInsideOfIpv6Ones) {
    for (const auto* address :
         {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1",
          "64:ff9b::a9fe:a9fe", "2002:0a00:0001::1", "2002:7f00:1::",
          "2001:0:0a00:1::1",                // Teredo, the server inside
          "2001:0:0808:0808::f5ff:fffe"}) {  // Teredo, 10.0.0.1 behind it, flipped
        EXPECT_TRUE(refusal_of(address)) << address;
    }
    for (const auto* address : {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:0808:0808::1",
                                "2001:0:0808:0808::f7f7:f7f7"}) {
        EXPECT_FALSE(refusal_of(address)) << address;
    }
}

TEST(AddressGuard, LetsPublicAddressesThrough) {
    for (const auto* address :
         {"8.8.8.8",         "1.1.1.1",         "9.255.255.255",   "11.0.0.0",
          "172.15.255.255",  "172.32.0.0",      "192.167.255.255", "192.169.0.0",
          "169.253.0.1",     "169.255.0.1",     "100.63.255.255",  "100.128.0.0",
          "126.255.255.255", "128.0.0.1",       "192.0.1.1",       "198.17.255.255",
          "198.20.0.0",      "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888"}) {
        EXPECT_FALSE(refusal_of(address)) << address;
    }
}

TEST(AddressGuard, LoopbackThatAPersonWroteMeansLoopbackOnly) {
    const AddressRule rule{.host_is_loopback = true};
    EXPECT_FALSE(refusal_of("127.0.0.1", rule));
    EXPECT_FALSE(refusal_of("127.9.9.9", rule));
    EXPECT_FALSE(refusal_of("::1", rule));
    EXPECT_TRUE(refusal_of("10.0.0.1", rule));
    EXPECT_TRUE(refusal_of("169.254.169.254", rule));
    EXPECT_TRUE(refusal_of("2002:7f00:1::", rule)) << "leaves the host, whatever it holds";
}

TEST(AddressGuard, PlainHttpGoesToLoopbackOnly) {
    EXPECT_FALSE(refusal_of("127.0.0.1", {.host_is_loopback = true, .plain_http = true}));
    for (const auto* address : {"8.8.8.8", "10.0.0.1", "2606:4700::1111"}) {
        EXPECT_TRUE(refusal_of(
            address, {.allow_internal = true, .host_is_loopback = true, .plain_http = true}));
    }
}

TEST(AddressGuard, SaysWhyAndWhatToDo) {
    EXPECT_EQ(refusal_of("10.0.0.1"),
              "10.0.0.1 is internal (a private network); set allow_internal: true to allow it");
    EXPECT_EQ(refusal_of("::ffff:169.254.169.254"),
              "169.254.169.254 is internal (link-local); set allow_internal: true to allow it");
    EXPECT_EQ(refusal_of("8.8.8.8", {.plain_http = true}),
              "8.8.8.8 is not loopback, and plain http goes nowhere else; use https");
}

TEST(AddressGuard, KnowsALoopbackHostByItsLetters) {
    for (const auto* host : {"localhost", "LocalHost", "127.0.0.1", "127.1.2.3", "[::1]"}) {
        EXPECT_TRUE(is_loopback_host(host)) << host;
    }
    for (const auto* host : {"localhost.example.com", "127.0.0.1.nip.io", "", "[", "0.0.0.0",
                             "localhos", "10.0.0.1", "[::2]", "127.1"}) {
        EXPECT_FALSE(is_loopback_host(host)) << host;
    }
}

TEST(AddressGuard, ReadsSocketAddresses) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(0x0a000001);
    EXPECT_EQ(ip_bytes(reinterpret_cast<const sockaddr*>(&v4), sizeof v4), ip_bytes("10.0.0.1"));
    EXPECT_EQ(ip_bytes("10.0.0.1"), ip_bytes("::ffff:10.0.0.1"));

    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_addr = in6addr_loopback;
    EXPECT_EQ(ip_bytes(reinterpret_cast<const sockaddr*>(&v6), sizeof v6), ip_bytes("::1"));
    EXPECT_EQ(ip_bytes("fe80::1%eth0"), ip_bytes("fe80::1"));

    v6.sin6_family = AF_UNIX;
    EXPECT_FALSE(ip_bytes(reinterpret_cast<const sockaddr*>(&v6), sizeof v6));
    EXPECT_FALSE(ip_bytes("example.com"));
}

}  // namespace
}  // namespace knell
