#pragma once

#include <charconv>
#include <string_view>

namespace knell {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view bytes);

/// Holds a byte below 0x20 or 0x7f: what would break a table, a log line or a terminal.
bool has_control_character(std::string_view bytes);

/// What stands before the next `until`, or all of it; taken off the text together with that.
std::string_view take_field(std::string_view& text, char until);

/// 0 when it begins with none.
template <typename Number>
Number number_in(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace knell
