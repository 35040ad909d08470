#include "deliver/hook/output.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell {

namespace {

/// Enough for the longest line that is quoted, and for blanks after it.
constexpr std::size_t tail_bytes_max = 4 * limits::hook_line_bytes_max;

/// How many bytes the character at the front of `bytes` has; 0 when they are not UTF-8.
std::size_t character_length(std::string_view bytes) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(4, bytes.size()); ++length) {
        if (is_utf8(bytes.substr(0, length))) return length;
    }
    return 0;
}

std::string as_text(std::string_view bytes) {
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

/// Without a letter cut in two at its end.
std::string_view cut(std::string_view text, std::size_t size_max) {
    if (text.size() <= size_max) return text;
    text = text.substr(0, size_max);
    while (!is_utf8(text)) text.remove_suffix(1);
    return text;
}

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

void HookOutput::append(std::string_view bytes) {
    head_ += bytes.substr(0, limits::hook_output_bytes_max - head_.size());
    if (bytes.size() >= tail_bytes_max) {
        tail_ = bytes.substr(bytes.size() - tail_bytes_max);
        return;
    }
    tail_ += bytes;
    if (tail_.size() > tail_bytes_max) tail_.erase(0, tail_.size() - tail_bytes_max);
}

std::string HookOutput::text() const {
    return as_text(head_);
}

std::string HookOutput::last_line() const {
    const auto said = trimmed(tail_);
    const auto before = said.rfind('\n');
    const auto line = before == std::string_view::npos ? said : said.substr(before + 1);
    return std::string{cut(printable_line(line), limits::hook_line_bytes_max)};
}

std::string printable_line(std::string_view text) {
    auto line = as_text(trimmed(text));
    std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return line;
}

}  // namespace knell
