#include "net/http/host_check.hpp"

#include <algorithm>
#include <array>

namespace knell::net::http {

namespace {

constexpr std::array<std::string_view, 3> loopback_names{"localhost", "127.0.0.1", "[::1]"};

bool is_loopback_name(std::string_view host) {
    return std::ranges::find(loopback_names, host) != loopback_names.end();
}

std::string lower(std::string_view text) {
    std::string lowered(text);
    for (auto& letter : lowered) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return lowered;
}

bool is_digits(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_address_character(char c) {
    return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

bool is_host(std::string_view host) {
    if (!host.starts_with('['))
        return !host.empty() && std::ranges::all_of(host, is_host_character);
    if (host.size() < 3 || !host.ends_with(']')) return false;
    return std::ranges::all_of(host.substr(1, host.size() - 2), is_address_character);
}

bool is_one_of(const Authority& host, std::span<const std::string> hosts) {
    return std::ranges::any_of(hosts, [&](const auto& one) { return lower(one) == host.host; });
}

}  // namespace

Authority parse_authority(std::string_view text) {
    const auto colon = text.rfind(':');
    const bool has_port = colon != std::string_view::npos && !text.substr(colon).contains(']');
    Authority found{lower(has_port ? text.substr(0, colon) : text),
                    std::string(has_port ? text.substr(colon + 1) : "")};
    if (!is_host(found.host) || found.port.size() > 5 || !is_digits(found.port)) return {};
    return found;
}

bool is_our_host(const Authority& host, std::string_view listen_host,
                 std::span<const std::string> hosts) {
    if (host.host.empty()) return false;
    return is_loopback_name(host.host) || host.host == lower(listen_host) || is_one_of(host, hosts);
}

bool is_our_origin(std::string_view origin, const Authority& host,
                   std::span<const std::string> hosts) {
    const bool is_secure = origin.starts_with("https://");
    if (!is_secure && !origin.starts_with("http://")) return false;  // "null", an extension, a file
    auto page = parse_authority(origin.substr(is_secure ? 8 : 7));
    if (page.host.empty()) return false;
    if (is_one_of(page, hosts)) return true;
    // The port of the scheme is left out by browsers, in both.
    const auto usual = is_secure ? "443" : "80";
    const auto port = [&](const Authority& one) { return one.port.empty() ? usual : one.port; };
    return page.host == host.host && port(page) == port(host);
}

}  // namespace knell::net::http
