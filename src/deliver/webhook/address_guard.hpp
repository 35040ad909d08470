#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/socket.h>

namespace knell {

/// What a webhook may connect to.  Applied to the address that is about to be connected to, not to
/// a name: what a name means can change between a look and a connect.
struct AddressRule {
    bool allow_internal = false;
    bool host_is_loopback = false;  // its URL says localhost, 127.x or [::1]: a person wrote that
    bool plain_http = false;        // unencrypted: to loopback and nowhere else
};

/// IPv6 as it is, IPv4 as ::ffff:a.b.c.d, so that both spellings of an IPv4 address are one.
using IpBytes = std::array<std::uint8_t, 16>;

/// Nothing when it is neither IPv4 nor IPv6.
std::optional<IpBytes> ip_bytes(const sockaddr* address, socklen_t size);
std::optional<IpBytes> ip_bytes(std::string_view text);

bool is_loopback(const IpBytes& address);
/// localhost, or an address that is loopback; an IPv6 one in brackets, as URLs have it.
bool is_loopback_host(std::string_view host);

/// Why the address must not be connected to, for people; nothing when it may.
std::optional<std::string> refusal(const IpBytes& address, const AddressRule& rule);

}  // namespace knell
