#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace knell {

/// The `http` of the config: where clients are served over HTTP, and what they may do.
struct HttpSettings {
    std::string listen;  // see parse_listen_address
    std::vector<std::string> hosts;
    bool behind_proxy = false;
    bool trusted_network = false;
    bool allow_processes = false;
    std::chrono::seconds detach_window{0};
    std::chrono::seconds turn_window{0};

    bool operator==(const HttpSettings&) const = default;
};

/// "127.0.0.1:7717", "[::1]:0", "localhost:7717" or "off".
struct ListenAddress {
    std::string host;        // an IP address, IPv6 without brackets; "": off
    std::uint16_t port = 0;  // 0: any that is free

    bool is_off() const { return host.empty(); }
    /// Nobody on another machine can reach it.
    bool is_loopback() const;
    bool operator==(const ListenAddress&) const = default;
};

/// Pure.  Nothing when it is none.  Names are not looked up: what a name leads to may change.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// Of a key and of `knell up --http`.
std::optional<std::string> why_not_a_listen_address(std::string_view text);
/// Of one in `hosts`: a name or address as it stands in a URL, without scheme and port.
std::optional<std::string> why_not_a_host(std::string_view text);

/// Why these must not be listened with: an address that other machines reach wants a word that
/// somebody keeps strangers away, because tokens cross the network as they are.
std::optional<std::string> why_not_listen(const HttpSettings& settings);

}  // namespace knell
