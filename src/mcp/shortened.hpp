#pragma once

#include <string_view>

namespace knell::mcp {

/// What a client named, to be told back: 100 bytes at most, no character cut in two.  Pure.
constexpr std::string_view shortened(std::string_view text) {
    std::size_t size = 100;
    if (text.size() <= size) return text;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
    return text.substr(0, size);
}

}  // namespace knell::mcp
