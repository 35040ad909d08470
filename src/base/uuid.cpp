#include "base/uuid.hpp"

namespace knell {

namespace {

constexpr std::string_view hex = "0123456789abcdef";
constexpr std::size_t text_size = 36;

/// A dash stands before these bytes.
constexpr bool has_dash_before(std::size_t byte) {
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

/// The value of a lower-case digit, or 16.
constexpr unsigned digit(char letter) {
    if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
    if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a') + 10;
    return 16;
}

}  // namespace

std::string make_uuid7(WallTime time, std::array<std::uint64_t, 2> random) {
    const auto millis = static_cast<std::uint64_t>(to_millis(time));
    const std::uint64_t high = (millis << 16) | 0x7000U | (random[0] & 0x0fffU);
    const std::uint64_t low = (random[1] & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;
    UuidBytes bytes{};
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        const std::uint64_t half = byte < 8 ? high : low;
        bytes.at(byte) = static_cast<char>((half >> (56 - 8 * (byte % 8))) & 0xffU);
    }
    return uuid_text(bytes);
}

std::optional<UuidBytes> parse_uuid(std::string_view text) {
    if (text.size() != text_size) return std::nullopt;
    UuidBytes bytes{};
    std::size_t at = 0;
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        if (has_dash_before(byte) && text[at++] != '-') return std::nullopt;
        const auto high = digit(text[at++]);
        const auto low = digit(text[at++]);
        if (high > 15 || low > 15) return std::nullopt;
        bytes.at(byte) = static_cast<char>((high << 4U) | low);
    }
    return bytes;
}

std::string uuid_text(const UuidBytes& bytes) {
    std::string text;
    text.reserve(text_size);
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        if (has_dash_before(byte)) text += '-';
        const auto value = static_cast<unsigned char>(bytes.at(byte));
        text += hex[value >> 4U];
        text += hex[value & 0xfU];
    }
    return text;
}

}  // namespace knell
