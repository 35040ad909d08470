#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell::testing {

/// A WebSocket frame as a client sends it (RFC 6455, 5.2), masked with zeros, so that it holds its
/// payload as it is.
inline std::string client_frame(unsigned opcode, std::string_view payload, bool is_last = true) {
    constexpr std::size_t short_max = 125;
    constexpr unsigned last = 0x80;
    constexpr unsigned masked = 0x80;
    constexpr unsigned eight_bytes = 127;
    constexpr std::size_t mask_bytes = 4;
    const auto size = payload.size();
    std::string frame;
    frame += static_cast<char>((is_last ? last : 0U) | opcode);
    if (size <= short_max) {
        frame += static_cast<char>(masked | size);
    } else {
        frame += static_cast<char>(masked | eight_bytes);
        for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(size >> shift);
    }
    frame.append(mask_bytes, '\0');
    frame += payload;
    return frame;
}

}  // namespace knell::testing
