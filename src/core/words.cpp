#include "core/words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace knell {

namespace {

enum class Kind : std::uint8_t {
    separator,
    letter,
    alone,    // a word by itself: its script has no blanks between words
    ignored,  // an accent of the letter before it
};

struct Range {
    char32_t first;
    char32_t last;
    Kind kind;
};

/// What is no letter, from U+0080 on; rising, and all else is one.
constexpr std::array ranges{
    Range{0x0080, 0x00A9, Kind::separator}, Range{0x00AB, 0x00B4, Kind::separator},
    Range{0x00B6, 0x00B9, Kind::separator}, Range{0x00BB, 0x00BF, Kind::separator},
    Range{0x00D7, 0x00D7, Kind::separator}, Range{0x00F7, 0x00F7, Kind::separator},
    Range{0x0300, 0x036F, Kind::ignored},   Range{0x0E00, 0x0EFF, Kind::alone},
    Range{0x1000, 0x109F, Kind::alone},     Range{0x1780, 0x17FF, Kind::alone},
    Range{0x2000, 0x206F, Kind::separator}, Range{0x20A0, 0x20CF, Kind::separator},
    Range{0x2190, 0x25FF, Kind::separator}, Range{0x2600, 0x27BF, Kind::alone},
    Range{0x27C0, 0x2BFF, Kind::separator}, Range{0x2E00, 0x2E7F, Kind::separator},
    Range{0x3000, 0x3004, Kind::separator}, Range{0x3005, 0x3007, Kind::alone},
    Range{0x3008, 0x303F, Kind::separator}, Range{0x3040, 0x312F, Kind::alone},
    Range{0x31F0, 0x31FF, Kind::alone},     Range{0x3400, 0x4DBF, Kind::alone},
    Range{0x4E00, 0x9FFF, Kind::alone},     Range{0xAC00, 0xD7AF, Kind::alone},
    Range{0xE000, 0xF8FF, Kind::separator}, Range{0xF900, 0xFAFF, Kind::alone},
    Range{0xFE00, 0xFE0F, Kind::ignored},   Range{0xFF00, 0xFF0F, Kind::separator},
    Range{0xFF1A, 0xFF20, Kind::separator}, Range{0xFF3B, 0xFF40, Kind::separator},
    Range{0xFF5B, 0xFF65, Kind::separator}, Range{0xFF66, 0xFF9F, Kind::alone},
    Range{0xFFF0, 0xFFFF, Kind::separator}, Range{0x1F000, 0x1FAFF, Kind::alone},
    Range{0x20000, 0x3FFFF, Kind::alone},
};

Kind kind_of(char32_t value) {
    if (value < 0x80) {
        const bool is_letter = (value >= '0' && value <= '9') || (value >= 'a' && value <= 'z') ||
                               (value >= 'A' && value <= 'Z');
        return is_letter ? Kind::letter : Kind::separator;
    }
    const auto* range = std::ranges::lower_bound(ranges, value, {}, &Range::last);
    return range != ranges.end() && value >= range->first ? range->kind : Kind::letter;
}

/// U+00C0 to U+00FF, and U+0100 to U+017F, without their accents.
constexpr std::array<std::string_view, 64> latin_1{
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i",  "i",
    "d", "n", "o", "o", "o", "o", "o",  "",  "o", "u", "u", "u", "u", "y", "th", "ss",
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i",  "i",
    "d", "n", "o", "o", "o", "o", "o",  "",  "o", "u", "u", "u", "u", "y", "th", "y"};
struct Base {
    char32_t last;
    std::string_view letters;
};
constexpr std::array latin_a{
    Base{0x105, "a"}, Base{0x10D, "c"}, Base{0x111, "d"},  Base{0x11B, "e"},  Base{0x123, "g"},
    Base{0x127, "h"}, Base{0x131, "i"}, Base{0x133, "ij"}, Base{0x135, "j"},  Base{0x138, "k"},
    Base{0x142, "l"}, Base{0x14B, "n"}, Base{0x151, "o"},  Base{0x153, "oe"}, Base{0x159, "r"},
    Base{0x161, "s"}, Base{0x167, "t"}, Base{0x173, "u"},  Base{0x175, "w"},  Base{0x178, "y"},
    Base{0x17E, "z"}, Base{0x17F, "s"}};

constexpr char32_t greek(char32_t value) {
    switch (value) {
        case 0x386:
        case 0x3AC:
            return 0x3B1;
        case 0x388:
        case 0x3AD:
            return 0x3B5;
        case 0x389:
        case 0x3AE:
            return 0x3B7;
        case 0x38A:
        case 0x3AF:
        case 0x3AA:
        case 0x3CA:
        case 0x390:
            return 0x3B9;
        case 0x38C:
        case 0x3CC:
            return 0x3BF;
        case 0x38E:
        case 0x3CD:
        case 0x3AB:
        case 0x3CB:
        case 0x3B0:
            return 0x3C5;
        case 0x38F:
        case 0x3CE:
            return 0x3C9;
        case 0x3C2:
            return 0x3C3;
        default:
            return value >= 0x391 && value <= 0x3A9 && value != 0x3A2 ? value + 0x20 : value;
    }
}

constexpr char32_t cyrillic(char32_t value) {
    if (value == 0x401 || value == 0x451) return 0x435;  // as most people write it
    if (value <= 0x40F) return value + 0x50;
    if (value >= 0x410 && value <= 0x42F) return value + 0x20;
    if (value == 0x4C0) return 0x4CF;
    const bool in_pairs =
        (value >= 0x460 && value <= 0x481) || (value >= 0x48A && value <= 0x4BF) || value >= 0x4D0;
    if (in_pairs) return value | 1U;
    if (value >= 0x4C1 && value <= 0x4CE) return value + (value & 1U);
    return value;
}

constexpr char32_t lower(char32_t value) {
    if (value >= 0x370 && value <= 0x3FF) return greek(value);
    if (value >= 0x400 && value <= 0x52F) return cyrillic(value);
    if (value >= 0x531 && value <= 0x556) return value + 0x30;
    if (value >= 0x1E00 && value <= 0x1EFF) {
        const bool in_pairs = value < 0x1E96 || value >= 0x1EA0;
        return in_pairs ? value | 1U : value;
    }
    if (value >= 0xFF10 && value <= 0xFF19) return value - 0xFF10 + U'0';
    if (value >= 0xFF21 && value <= 0xFF3A) return value - 0xFF21 + U'a';
    if (value >= 0xFF41 && value <= 0xFF5A) return value - 0xFF41 + U'a';
    return value;
}

void append_utf8(std::string& text, char32_t value) {
    const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
    if (value < 0x80) return put(value);
    if (value < 0x800) {
        put(0xC0U | (value >> 6U));
    } else {
        if (value < 0x10000) {
            put(0xE0U | (value >> 12U));
        } else {
            put(0xF0U | (value >> 18U));
            put(0x80U | ((value >> 12U) & 0x3FU));
        }
        put(0x80U | ((value >> 6U) & 0x3FU));
    }
    put(0x80U | (value & 0x3FU));
}

void append_folded(std::string& text, char32_t value) {
    if (value < 0x80) {
        const bool is_upper = value >= 'A' && value <= 'Z';
        text += static_cast<char>(is_upper ? value + ('a' - 'A') : value);
    } else if (value >= 0xC0 && value <= 0xFF) {
        text += latin_1.at(value - 0xC0);
    } else if (value >= 0x100 && value <= 0x17F) {
        text += std::ranges::lower_bound(latin_a, value, {}, &Base::last)->letters;
    } else {
        append_utf8(text, lower(value));
    }
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
    if (text.empty()) return {};
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
    char32_t value = first & (0x7FU >> bytes);
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xC0U) != 0x80) return {};
        value = (value << 6U) | (byte(at) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least.at(bytes) || value > 0x10FFFF || is_surrogate) return {};
    return {value, bytes};
}

bool WordReader::next(Word& word) {
    folded_.clear();
    bool found = false;
    while (at_ < text_.size()) {
        const auto one = first_code_point(text_.substr(at_));
        const auto kind = one.bytes == 0 ? Kind::separator : kind_of(one.value);
        const auto begin = at_;
        if (found && (kind == Kind::separator || kind == Kind::alone)) break;
        at_ += std::max<std::size_t>(one.bytes, 1);
        if (kind == Kind::separator || (kind == Kind::ignored && !found)) continue;
        if (!found) word.begin = begin;
        found = true;
        word.end = at_;
        if (kind == Kind::ignored) continue;
        const auto bytes = folded_.size();
        append_folded(folded_, one.value);
        if (folded_.size() > folded_bytes_max) folded_.resize(bytes);
        if (kind == Kind::alone) break;
    }
    word.folded = folded_;
    return found;
}

}  // namespace knell
