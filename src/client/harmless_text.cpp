#include "client/harmless_text.hpp"

#include "base/text.hpp"

namespace knell::client {

namespace {

/// How many bytes its first byte promises.
std::size_t length_of(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// Of well-formed UTF-8.
char32_t value_of(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes.front());
    if (bytes.size() == 1) return first;
    char32_t value = first & (0xffU >> (bytes.size() + 1));
    for (const char next : bytes.substr(1)) {
        value = (value << 6U) | (static_cast<unsigned char>(next) & 0x3fU);
    }
    return value;
}

bool is_harmless(char32_t character) {
    if (character == '\n' || character == '\t') return true;
    if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return false;
    if (character == 0x2028 || character == 0x2029) return false;
    return !changes_direction(character);
}

}  // namespace

std::string harmless(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        auto character = text.substr(0, length_of(text.front()));
        const bool is_whole = is_utf8(character);
        if (!is_whole) character = text.substr(0, 1);
        if (is_whole && is_harmless(value_of(character))) {
            clean += character;
        } else {
            clean += '?';
        }
        text.remove_prefix(character.size());
    }
    return clean;
}

void make_harmless(Json& value, std::string_view but_for) {
    if (const auto* text = value.if_string()) {
        value = harmless(*text);
    } else if (auto* array = value.if_array()) {
        for (auto& element : *array) make_harmless(element, but_for);
    } else if (auto* object = value.if_object()) {
        for (auto& [name, member] : *object) {
            if (std::string_view(name) != but_for) make_harmless(member, but_for);
        }
    }
}

}  // namespace knell::client
