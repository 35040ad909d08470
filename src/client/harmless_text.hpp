#pragma once

#include <string>
#include <string_view>

#include "wire/json.hpp"

namespace knell::client {

/// Makes what stands behind it read in another order than it is: a title could show as another.
constexpr bool changes_direction(char32_t character) {
    return (character >= 0x202a && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

/// Text of programs that nobody has vouched for, fit to be shown wherever an agent puts it: control
/// characters but line breaks and tabs, those that break lines unseen or change the direction, and
/// bytes that are not UTF-8 become '?'.  Pure.
std::string harmless(std::string_view text);

/// The same for all strings that it holds, but for members of the name `but_for`.
void make_harmless(Json& value, std::string_view but_for);

}  // namespace knell::client
