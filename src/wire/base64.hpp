#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace knell {

/// RFC 4648, with padding, on one line.
std::string base64_encode(std::string_view bytes);

/// Nothing unless the text is exactly what `base64_encode` writes: no blanks, no missing padding,
/// no stray bits.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace knell
