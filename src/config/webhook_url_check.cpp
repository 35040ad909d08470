#include "config/webhook_url_check.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "core/limits.hpp"

namespace knell {

namespace {

struct Authority {
    std::string host;  // an IPv6 address without its brackets
    std::string_view port;
    bool has_port = false;
};

std::optional<Authority> split_authority(std::string_view text) {
    Authority parts;
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        parts.host = text.substr(1, end - 1);
        rest = text.substr(end + 1);
    } else {
        const auto end = std::min(text.find(':'), text.size());
        parts.host = text.substr(0, end);
        rest = text.substr(end);
    }
    parts.has_port = rest.starts_with(':');
    if (!parts.has_port && !rest.empty()) return std::nullopt;
    if (parts.has_port) parts.port = rest.substr(1);
    return parts;
}

bool is_port(std::string_view text) {
    unsigned port = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, port);
    return error == std::errc{} && rest == end && port >= 1 && port <= 65'535;
}

bool is_ipv6(const std::string& host) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// A name, or an IPv4 address.
bool is_name(std::string_view host) {
    return !host.empty() && std::ranges::all_of(host, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-").contains(c);
    });
}

bool is_loopback(const std::string& host) {
    in_addr four{};
    if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24U == 127;
    in6_addr six{};
    if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
    return host == "localhost";
}

bool is_address_character(char c) {
    // A backslash is a slash to some parsers and part of a name to others.
    return c > ' ' && c < '\x7f' && !std::string_view("\"<>\\^`{|}").contains(c);
}

}  // namespace

std::optional<std::string> why_not_a_webhook_url(std::string_view url) {
    if (url.size() > limits::url_bytes_max) {
        return fmt::format("is longer than {} bytes; shorten it", limits::url_bytes_max);
    }
    if (!std::ranges::all_of(url, is_address_character)) {
        return "holds a character that no address has; write it as %XX";
    }
    const bool is_plain = url.starts_with("http://");
    if (!is_plain && !url.starts_with("https://"))
        return "must begin with https://; write https://HOST/PATH";
    auto rest = url.substr(url.find("//") + 2);
    if (rest.contains('#')) return "holds a #fragment, which is never sent; remove it";
    const auto text = rest.substr(0, rest.find_first_of("/?"));
    if (text.contains('@')) {
        return "holds a user or password; remove it: each delivery is signed with the secret";
    }
    const auto authority = split_authority(text);
    const bool is_bracketed = text.starts_with('[');
    if (!authority || !(is_bracketed ? is_ipv6(authority->host) : is_name(authority->host))) {
        return "names no host; write it as https://HOST/PATH";
    }
    if (authority->has_port && !is_port(authority->port)) {
        return "must have a port from 1 to 65535, or none; correct it";
    }
    if (is_plain && !is_loopback(authority->host)) {
        return "must begin with https://; http is only for 127.0.0.1, [::1] and localhost";
    }
    return std::nullopt;
}

std::optional<std::string> why_not_a_gateway_url(std::string_view url) {
    if (url.contains('@')) {
        return "holds a user or password; remove it: the token is in a file of its own";
    }
    if (url.contains('?')) return "holds a ?query; write only where the gateway is";
    return why_not_a_webhook_url(url);
}

}  // namespace knell
