#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell::cli {

/// `text` as one line that cannot move the cursor or change the terminal: line breaks and tabs
/// become spaces, other control and direction characters and bytes that are not UTF-8 become '?'.
/// Titles and details come from programs nobody has vouched for.
std::string one_line(std::string_view text);

/// The same, but line breaks stay.
std::string many_lines(std::string_view text);

/// Columns on a terminal.  `text` is what one_line gives.
std::size_t display_width(std::string_view text);

/// At most `width` columns, the last an ellipsis where something was cut.
std::string fit(std::string_view text, std::size_t width);
/// The same with its end: of a path that says more.
std::string fit_end(std::string_view text, std::size_t width);

/// `text` in lines of at most `width` columns, broken between words; all but the first begin with
/// `indent` spaces, which count.  The first has room for `width` columns less what stands before
/// it, `before`.  A word that is wider than a line is left whole: it can be copied from the
/// terminal, which breaks it.  As it is where `width` is 0.
struct Wrapping {
    std::size_t width = 0;
    std::size_t indent = 0;
    std::size_t before = 0;
};
std::string wrap(std::string_view text, const Wrapping& wrapping);

}  // namespace knell::cli
