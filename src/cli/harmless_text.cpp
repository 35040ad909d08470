#include "cli/harmless_text.hpp"

#include <utility>

#include "base/text.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

constexpr char escape = '\x1b';
/// Colours are short; what goes on for longer is none.
constexpr std::size_t colour_bytes_max = 32;

/// How long a character that begins so is; 0: none does.
std::size_t length_of(unsigned char first) {
    if (first < 0x80U) return 1;
    if (first >= 0xc2U && first <= 0xdfU) return 2;
    if (first >= 0xe0U && first <= 0xefU) return 3;
    if (first >= 0xf0U && first <= 0xf4U) return 4;
    return 0;
}

void show_control(unsigned char byte, std::string& shown) {
    shown += '^';
    shown += static_cast<char>(byte == 0x7fU ? '?' : byte + 0x40U);
}

}  // namespace

std::string HarmlessText::add(std::string_view bytes) {
    pending_ += bytes;
    std::string shown;
    std::size_t done = 0;
    while (done < pending_.size()) {
        const auto taken =
            take_one(std::string_view(pending_).substr(done), /*is_last=*/false, shown);
        if (taken == 0) break;
        done += taken;
    }
    pending_.erase(0, done);
    return shown;
}

std::string HarmlessText::finish() {
    std::string shown;
    std::size_t done = 0;
    while (done < pending_.size()) {
        done += take_one(std::string_view(pending_).substr(done), /*is_last=*/true, shown);
    }
    pending_.clear();
    if (coloured_) shown += "\x1b[0m";
    coloured_ = false;
    return shown;
}

std::size_t HarmlessText::take_one(std::string_view bytes, bool is_last, std::string& shown) {
    const auto first = static_cast<unsigned char>(bytes.front());
    const bool is_after_return = std::exchange(was_return_, false);
    if (first == '\r') {
        was_return_ = true;
        shown += '\n';
        return 1;
    }
    if (first == '\n' && is_after_return) return 1;
    if (first == '\n' || first == '\t') {
        shown += static_cast<char>(first);
        return 1;
    }
    if (first == escape) return take_escape(bytes, is_last, shown);
    if (first < 0x20U || first == 0x7fU) {
        show_control(first, shown);
        return 1;
    }
    const auto length = length_of(first);
    const auto character = bytes.substr(0, length);
    if (length == 0 || (character.size() < length && is_last)) {
        shown += '?';
        return 1;
    }
    if (character.size() < length) {
        was_return_ = is_after_return;
        return 0;
    }
    if (!is_utf8(character)) {
        shown += '?';
        return 1;
    }
    shown += one_line(character);
    return length;
}

std::size_t HarmlessText::take_escape(std::string_view bytes, bool is_last, std::string& shown) {
    // Only ESC [ numbers m: colours, bold and the like.
    const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == ';' || c == ':'; };
    std::size_t end = 1;
    if (end < bytes.size() && bytes[end] == '[') {
        ++end;
        while (end < bytes.size() && end < colour_bytes_max && is_part(bytes[end])) ++end;
        if (end < bytes.size() && bytes[end] == 'm') {
            shown += bytes.substr(0, end + 1);
            coloured_ = true;
            return end + 1;
        }
    }
    if (end == bytes.size() && end < colour_bytes_max && !is_last) return 0;
    show_control(static_cast<unsigned char>(escape), shown);
    return 1;
}

}  // namespace knell::cli
