#include "wire/output_text.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace knell::wire {

namespace {

constexpr std::size_t letter_bytes_max = 4;
constexpr std::string_view replacement = "\xef\xbf\xbd";

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80;
}

/// By its first byte; 1 where that begins none.
std::size_t letter_bytes(char first) {
    const auto byte = static_cast<unsigned char>(first);
    if (byte >= 0xf0 && byte <= 0xf4) return 4;
    if (byte >= 0xe0 && byte <= 0xef) return 3;
    if (byte >= 0xc2 && byte <= 0xdf) return 2;
    return 1;
}

}  // namespace

std::string to_utf8(std::string_view bytes) {
    if (is_utf8(bytes)) return std::string(bytes);
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto size = std::min(letter_bytes(bytes.front()), bytes.size());
        const auto letter = bytes.substr(0, size);
        const bool is_letter = is_utf8(letter);
        text += is_letter ? letter : replacement;
        bytes.remove_prefix(is_letter ? size : 1);
    }
    return text;
}

std::size_t unfinished_bytes(std::string_view bytes) {
    for (std::size_t size = 1; size < letter_bytes_max && size <= bytes.size(); ++size) {
        const char byte = bytes[bytes.size() - size];
        if (is_continuation(byte)) continue;
        return letter_bytes(byte) > size ? size : 0;
    }
    return 0;
}

std::size_t headless_bytes(std::string_view bytes) {
    std::size_t size = 0;
    while (size + 1 < letter_bytes_max && size < bytes.size() && is_continuation(bytes[size])) {
        ++size;
    }
    return size;
}

}  // namespace knell::wire
