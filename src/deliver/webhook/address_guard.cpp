#include "deliver/webhook/address_guard.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <strings.h>

namespace knell {

namespace {

constexpr std::size_t v4_offset = 12;  // where an IPv4 address is in its mapped form

constexpr IpBytes mapped(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}

struct Network {
    IpBytes prefix{};
    int bits = 0;
    std::string_view what;
};

constexpr Network v4(std::array<std::uint8_t, 4> prefix, int bits, std::string_view what) {
    return {mapped(prefix[0], prefix[1], prefix[2], prefix[3]), 96 + bits, what};
}
constexpr Network v6(std::initializer_list<std::uint8_t> prefix, int bits, std::string_view what) {
    Network network{.bits = bits, .what = what};
    std::ranges::copy(prefix, network.prefix.begin());
    return network;
}

constexpr Network v4_loopback = v4({127, 0, 0, 0}, 8, "loopback");
constexpr Network v6_loopback = {
    .prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, .bits = 128, .what = "loopback"};

constexpr std::array internal_networks{
    v4({0, 0, 0, 0}, 8, "this host"),
    v4({10, 0, 0, 0}, 8, "a private network"),
    v4({100, 64, 0, 0}, 10, "a carrier's private network"),
    v4_loopback,
    v4({169, 254, 0, 0}, 16, "link-local"),
    v4({172, 16, 0, 0}, 12, "a private network"),
    v4({192, 0, 0, 0}, 24, "a protocol's own"),
    v4({192, 168, 0, 0}, 16, "a private network"),
    v4({198, 18, 0, 0}, 15, "for benchmarks"),
    v4({224, 0, 0, 0}, 4, "multicast"),
    v4({240, 0, 0, 0}, 4, "reserved or broadcast"),
    v6_loopback,
    v6({}, 128, "this host"),
    v6({0xfe, 0x80}, 10, "link-local"),
    v6({0xfc}, 7, "a private network"),
    v6({0xff}, 8, "multicast"),
};

constexpr Network all_mapped = v4({0, 0, 0, 0}, 0, {});
constexpr Network global_unicast = v6({0x20}, 3, {});
constexpr Network nat64 = v6({0x00, 0x64, 0xff, 0x9b}, 96, {});
constexpr Network six_to_four = v6({0x20, 0x02}, 16, {});
constexpr Network teredo = v6({0x20, 0x01, 0x00, 0x00}, 32, {});

bool is_in(const IpBytes& address, const Network& network) {
    const auto whole = static_cast<std::size_t>(network.bits / 8);
    if (!std::equal(address.begin(), address.begin() + network.bits / 8, network.prefix.begin())) {
        return false;
    }
    const auto rest = network.bits % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<std::uint8_t>(0xff00U >> static_cast<unsigned>(rest));
    return (address.at(whole) & mask) == (network.prefix.at(whole) & mask);
}

IpBytes v4_at(const IpBytes& address, std::size_t offset, std::uint8_t flip = 0) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint8_t>(address.at(offset + i) ^ flip);
    };
    return mapped(byte(0), byte(1), byte(2), byte(3));
}

/// What kind of internal address it is; "" for a public one.
std::string_view internal_kind(const IpBytes& address) {
    for (const auto& network : internal_networks) {
        if (is_in(address, network)) return network.what;
    }
    if (is_in(address, all_mapped)) return {};
    // A gateway takes these apart and goes on to the IPv4 address inside.
    if (is_in(address, nat64)) return internal_kind(v4_at(address, v4_offset));
    if (is_in(address, six_to_four)) return internal_kind(v4_at(address, 2));
    if (is_in(address, teredo)) {
        const auto server = internal_kind(v4_at(address, 4));
        return server.empty() ? internal_kind(v4_at(address, v4_offset, /*flip=*/0xff)) : server;
    }
    return is_in(address, global_unicast) ? std::string_view{} : "not a public network";
}

std::string to_text(const IpBytes& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_in(address, all_mapped)) {
        inet_ntop(AF_INET, address.data() + v4_offset, text.data(), text.size());
    } else {
        inet_ntop(AF_INET6, address.data(), text.data(), text.size());
    }
    return text.data();
}

}  // namespace

std::optional<IpBytes> ip_bytes(const sockaddr* address, socklen_t size) {
    if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
        sockaddr_in v4_address{};
        std::memcpy(&v4_address, address, sizeof v4_address);
        auto bytes = mapped(0, 0, 0, 0);
        std::memcpy(bytes.data() + v4_offset, &v4_address.sin_addr, sizeof v4_address.sin_addr);
        return bytes;
    }
    if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
        sockaddr_in6 v6_address{};
        std::memcpy(&v6_address, address, sizeof v6_address);
        IpBytes bytes{};
        std::memcpy(bytes.data(), &v6_address.sin6_addr, bytes.size());
        return bytes;
    }
    return std::nullopt;
}

std::optional<IpBytes> ip_bytes(std::string_view text) {
    const std::string whole(text.substr(0, text.find('%')));  // the zone says nothing here
    auto bytes = mapped(0, 0, 0, 0);
    if (inet_pton(AF_INET, whole.c_str(), bytes.data() + v4_offset) == 1) return bytes;
    if (inet_pton(AF_INET6, whole.c_str(), bytes.data()) == 1) return bytes;
    return std::nullopt;
}

bool is_loopback(const IpBytes& address) {
    return is_in(address, v4_loopback) || is_in(address, v6_loopback);
}

bool is_loopback_host(std::string_view host) {
    if (strcasecmp(std::string(host).c_str(), "localhost") == 0) return true;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto address = ip_bytes(host);
    return address && is_loopback(*address);
}

std::optional<std::string> refusal(const IpBytes& address, const AddressRule& rule) {
    const bool loopback = is_loopback(address);
    if (rule.plain_http && !loopback) {
        return fmt::format("{} is not loopback, and plain http goes nowhere else; use https",
                           to_text(address));
    }
    if (rule.allow_internal || (loopback && rule.host_is_loopback)) return std::nullopt;
    const auto kind = internal_kind(address);
    if (kind.empty()) return std::nullopt;
    return fmt::format("{} is internal ({}); set allow_internal: true to allow it",
                       to_text(address), kind);
}

}  // namespace knell
