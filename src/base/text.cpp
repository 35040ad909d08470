#include "base/text.hpp"

#include <algorithm>
#include <cstdint>

namespace knell {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// How many bytes the character at the front of `bytes` has; 0 when they are not UTF-8.
std::size_t character_length(std::string_view bytes) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(4, bytes.size()); ++length) {
        if (is_utf8(bytes.substr(0, length))) return length;
    }
    return 0;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (lead < 0xc2 || lead > 0xf4 || i + length > bytes.size()) return false;
        std::uint32_t point = lead & (0x7fU >> length);
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(bytes[i + k]);
            if ((next & 0xc0U) != 0x80U) return false;
            point = (point << 6U) | (next & 0x3fU);
        }
        static constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
        const bool surrogate = point >= 0xd800 && point <= 0xdfff;
        if (point < smallest[length] || point > 0x10ffff || surrogate) return false;
        i += length;
    }
    return true;
}

bool has_control_character(std::string_view bytes) {
    return std::ranges::any_of(bytes, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

std::string_view take_field(std::string_view& text, char until) {
    const auto end = std::min(text.find(until), text.size());
    const auto field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return field;
}

void append_escaped(std::string& line, std::string_view bytes) {
    for (const char c : bytes) {
        switch (c) {
            case '\t':
                line += "\\t";
                break;
            case '\n':
                line += "\\n";
                break;
            case '\0':
                line += "\\0";
                break;
            case '\\':
                line += "\\\\";
                break;
            default:
                line += c;
        }
    }
}

std::string unescaped(std::string_view field) {
    std::string bytes;
    for (std::size_t i = 0; i < field.size(); ++i) {
        // Only another program leaves a backslash at the end.
        const bool is_escape = field[i] == '\\' && i + 1 < field.size();
        const char c = is_escape ? field[++i] : field[i];
        if (!is_escape) {
            bytes += c;
        } else {
            bytes += c == 't' ? '\t' : c == 'n' ? '\n' : c == '0' ? '\0' : c;
        }
    }
    return bytes;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string printable_text(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto length = character_length(bytes);
        const auto character = bytes.substr(0, std::max<std::size_t>(length, 1));
        const bool keeps = character == "\n" || character == "\t";
        const bool shows = length != 0 && !has_control_character(character);
        // One for one, so that a bound on the bytes is a bound on the text.
        if (keeps || shows) {
            text += character;
        } else {
            text += '?';
        }
        bytes.remove_prefix(character.size());
    }
    return text;
}

std::string printable_line(std::string_view text) {
    auto line = printable_text(trimmed(text));
    std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return line;
}

std::string_view cut_text(std::string_view text, std::size_t size_max) {
    if (text.size() <= size_max) return text;
    text = text.substr(0, size_max);
    while (!is_utf8(text)) text.remove_suffix(1);
    return text;
}

}  // namespace knell
