#pragma once

#include <span>
#include <string>
#include <string_view>

/// Who a browser believes it is talking to, and on whose behalf.  A page that somebody else serves
/// can make a browser connect to us: under its own name, which its DNS then says is 127.0.0.1, or
/// under ours, with its own origin.  Both are told apart by what the browser writes.
namespace knell::net::http {

/// "knell.example.org:8443"
struct Authority {
    std::string host;  // lower case; an IPv6 address with its brackets
    std::string port;  // "": none was written
};

/// `host` is "" when it cannot be read.
Authority parse_authority(std::string_view text);

/// A loopback name or address, the address that is listened at, or one of `hosts` (http.hosts,
/// without ports).  The port does not count: whoever forwards one may choose another.
bool is_our_host(const Authority& host, std::string_view listen_host,
                 std::span<const std::string> hosts);

/// `origin` is the header: the page was served by whom the request is sent to, or from one of
/// `hosts`.
bool is_our_origin(std::string_view origin, const Authority& host,
                   std::span<const std::string> hosts);

}  // namespace knell::net::http
