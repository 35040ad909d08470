#include "config/http_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>

namespace knell {

namespace {

bool is_address(int family, const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return inet_pton(family, host.c_str(), bytes.data()) == 1;
}

}  // namespace

bool ListenAddress::is_loopback() const {
    return host == "::1" || (host.starts_with("127.") && is_address(AF_INET, host));
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
    if (text == "off") return ListenAddress{};
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    ListenAddress address{.host = std::string(text.substr(0, colon))};
    const auto port = text.substr(colon + 1);
    const auto* end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data(), end, address.port);
    if (error != std::errc{} || stop != end) return std::nullopt;
    auto& host = address.host;
    if (host == "localhost") host = "127.0.0.1";
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
        return is_address(AF_INET6, host) ? std::optional(address) : std::nullopt;
    }
    return is_address(AF_INET, host) ? std::optional(address) : std::nullopt;
}

std::optional<std::string> why_not_a_listen_address(std::string_view text) {
    if (parse_listen_address(text)) return std::nullopt;
    return "must be ADDRESS:PORT or off; write it as in 127.0.0.1:7717 or [::1]:7717";
}

std::optional<std::string> why_not_a_host(std::string_view text) {
    const bool is_address = text.starts_with('[') && text.ends_with(']');
    const auto is_of_name = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.' || c == '_' ||
               (is_address && (c == ':' || c == '[' || c == ']'));
    };
    if (!text.empty() && std::ranges::all_of(text, is_of_name)) return std::nullopt;
    return "must be names or addresses; write them as in knell.example.org, without scheme and "
           "port";
}

std::optional<std::string> why_not_listen(const HttpSettings& settings) {
    const auto address = parse_listen_address(settings.listen);
    if (!address || address->is_off() || address->is_loopback()) return std::nullopt;
    if (settings.behind_proxy || settings.trusted_network) return std::nullopt;
    return "other machines can reach this address, and tokens cross the network as they are; "
           "listen at 127.0.0.1, or say `behind_proxy: true` when a proxy with TLS is all that "
           "reaches it, or `trusted_network: true` when everybody on the network may listen in";
}

}  // namespace knell
