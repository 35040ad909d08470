#include "base/text.hpp"

#include <algorithm>
#include <cstdint>

namespace knell {

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

}  // namespace knell
