#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace knell::cli {

inline constexpr std::size_t default_title_bytes_max = 200;

/// The command as a person would name it: without its directory, on one line, not too long.
std::string default_title(const std::vector<std::string>& command);

/// At most `size_max` bytes, never half of a character.  `text` is UTF-8.
std::string_view cut_utf8(std::string_view text, std::size_t size_max);

}  // namespace knell::cli
