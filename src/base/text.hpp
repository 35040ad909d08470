#pragma once

#include <string_view>

namespace knell {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view bytes);

/// Holds a byte below 0x20 or 0x7f: what would break a table, a log line or a terminal.
bool has_control_character(std::string_view bytes);

}  // namespace knell
