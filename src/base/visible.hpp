#pragma once

#include <string_view>

namespace knell {

/// Whether a person sees anything of this UTF-8: not blanks of any width, marks that join or turn
/// letters, or control characters alone.
bool is_visible(std::string_view utf8);

}  // namespace knell
