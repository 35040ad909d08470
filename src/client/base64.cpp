#include "client/base64.hpp"

#include <array>
#include <cstdint>

namespace knell::client {

namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 255;

constexpr auto values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(no_digit);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        table[static_cast<std::uint8_t>(digits[i])] = static_cast<std::uint8_t>(i);
    }
    return table;
}();

}  // namespace

std::optional<std::string> bytes_of_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    text.remove_suffix(padding);
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int count = 0;  // of bits that are not written yet
    for (const char c : text) {
        const auto value = values[static_cast<std::uint8_t>(c)];
        if (value == no_digit) return std::nullopt;
        bits = (bits << 6U) | value;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xffU);
    }
    // What is left over is padding: all zero.
    if ((bits & ((1U << static_cast<unsigned>(count)) - 1U)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace knell::client
