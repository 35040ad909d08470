#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell::cli {

/// A help text for a terminal of `width` columns; 0: as it is.  Lines that begin at the margin are
/// prose, and a paragraph of them that is too wide is broken anew.  Of an indented line that is too
/// wide, an option or an example with what it does behind a gap, the second part goes on below
/// itself.
std::string fit_help(std::string_view text, std::size_t width);

}  // namespace knell::cli
