#pragma once

#include <chrono>
#include <cstddef>

#include "core/limits.hpp"

/// What an HTTP client may cost, alone and together with all others.  What a call may cost is in
/// core/limits.hpp, for every transport alike.
namespace knell::net::http::bounds {

inline constexpr std::size_t header_bytes_max = 16U << 10U;  // request line and fields
inline constexpr std::size_t target_bytes_max = 4U << 10U;
inline constexpr std::size_t query_items_max = 64;
inline constexpr std::size_t body_bytes_max = limits::line_bytes_max;
inline constexpr std::size_t bodies_all_max = 64U << 20U;   // being read or answered
inline constexpr std::size_t answers_all_max = 64U << 20U;  // not taken yet

inline constexpr std::chrono::seconds event_comment_period{15};
inline constexpr std::size_t websocket_feeds_max = 16;

inline constexpr std::size_t throttled_addresses_max = 1024;

inline constexpr std::size_t gzip_bytes_min = 1U << 10U;
/// It is done on the thread of all sockets: a megabyte takes it about ten milliseconds.
inline constexpr std::size_t gzip_bytes_max = 1U << 20U;

}  // namespace knell::net::http::bounds

namespace knell::net::http {

/// How long a client may take for something before it is closed.  A test has less time.
struct Deadlines {
    /// From the first byte of a request, or from the connect, to the end of its header.
    std::chrono::milliseconds header = std::chrono::seconds{10};
    std::chrono::milliseconds body = std::chrono::seconds{30};
    std::chrono::milliseconds idle = std::chrono::seconds{75};    // between two requests
    std::chrono::milliseconds answer = std::chrono::seconds{60};  // to take one
    std::chrono::milliseconds unsent = limits::unsent_for_max;    // to take any of a stream
    /// A WebSocket client that is silent is asked at half of this and closed at the end of it.
    std::chrono::milliseconds silence = std::chrono::seconds{40};
};

}  // namespace knell::net::http
