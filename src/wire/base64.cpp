#include "wire/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace knell {

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits that each letter stands for; 64 and more: it is none.
constexpr auto bits_of = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(64);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        table.at(static_cast<unsigned char>(alphabet.at(i))) = static_cast<std::uint8_t>(i);
    }
    return table;
}();

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const auto byte = i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
            group = group << 8U | byte;
        }
        text += alphabet[group >> 18U & 63U];
        text += alphabet[group >> 12U & 63U];
        text += bytes.size() > 1 ? alphabet[group >> 6U & 63U] : '=';
        text += bytes.size() > 2 ? alphabet[group & 63U] : '=';
    }
    return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t group = 0;
    unsigned bits = 0;
    for (const char letter : text.substr(0, text.find('='))) {
        const auto value = bits_of[static_cast<unsigned char>(letter)];
        if (value >= alphabet.size()) return std::nullopt;
        group = (group << 6U | value) & 0xffffU;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(group >> bits & 0xffU);
    }
    // Padding that is missing or stray, and bits that stand for nothing.
    if (base64_encode(bytes) != text) return std::nullopt;
    return bytes;
}

}  // namespace knell
