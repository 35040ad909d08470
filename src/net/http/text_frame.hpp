#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell::net::http {

/// A text message in one frame, as a server sends it (RFC 6455, 5.2).
inline void append_text_frame(std::string& out, std::string_view message) {
    constexpr char last_of_text = '\x81';
    constexpr std::size_t short_max = 125;
    constexpr std::size_t medium_max = 65'535;
    constexpr char medium = 126;
    constexpr char large = 127;
    const auto size = message.size();
    out += last_of_text;
    unsigned length_bytes = 0;
    if (size <= short_max) {
        out += static_cast<char>(size);
    } else {
        out += size <= medium_max ? medium : large;
        length_bytes = size <= medium_max ? 2 : 8;
    }
    while (length_bytes-- > 0) out += static_cast<char>(size >> (8U * length_bytes));
    out += message;
}

}  // namespace knell::net::http
