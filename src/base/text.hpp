#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace knell {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view bytes);

/// Holds a byte below 0x20 or 0x7f: what would break a table, a log line or a terminal.
bool has_control_character(std::string_view bytes);

/// What stands before the next `until`, or all of it; taken off the text together with that.
std::string_view take_field(std::string_view& text, char until);

/// Any bytes as a field of a line, and back: a tab becomes \t, a line feed \n, a NUL \0 and a
/// backslash two.
void append_escaped(std::string& line, std::string_view bytes);
std::string unescaped(std::string_view field);

/// Without blanks and line ends around it.
std::string_view trimmed(std::string_view text);

/// Bytes of a stranger as text that can be stored, sent and shown: UTF-8 without control characters
/// other than tabs and line ends.  No longer than the bytes.
std::string printable_text(std::string_view bytes);
/// The same on one line: trimmed, with blanks for tabs and line ends.
std::string printable_line(std::string_view bytes);

/// The beginning of a text, without a letter cut in two at its end.
std::string_view cut_text(std::string_view text, std::size_t size_max);

/// 0 when it begins with none.
template <typename Number>
Number number_in(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace knell
