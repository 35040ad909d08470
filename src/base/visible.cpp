#include "base/visible.hpp"

#include <algorithm>
#include <cstddef>

namespace knell {

namespace {

struct Range {
    char32_t first;
    char32_t last;
};

/// Blanks, and what Unicode says is to be shown as nothing (Default_Ignorable_Code_Point).
constexpr Range unseen[] = {
    {0x00, 0x20},       {0x7f, 0xa0},       {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},
    {0x115f, 0x1160},   {0x1680, 0x1680},   {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f},
    {0x2028, 0x202f},   {0x205f, 0x206f},   {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/// Takes the first character off `text`, which is well-formed and not empty.
char32_t take_point(std::string_view& text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    char32_t point = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
        point = (point << 6U) | (static_cast<unsigned char>(text[k]) & 0x3fU);
    }
    text.remove_prefix(length);
    return point;
}

}  // namespace

bool is_visible(std::string_view utf8) {
    while (!utf8.empty()) {
        const auto point = take_point(utf8);
        const bool is_unseen = std::ranges::any_of(unseen, [point](const Range& range) {
            return range.first <= point && point <= range.last;
        });
        if (!is_unseen) return true;
    }
    return false;
}

}  // namespace knell
