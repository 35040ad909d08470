#pragma once

#include <cstddef>
#include <string_view>

namespace knell {

/// What output goes to.  The default is a file or a pipe: no colour, lines as long as they are.
struct Terminal {
    bool interactive = false;
    bool colour = false;
    std::size_t width = 0;  // columns; 0: no limit
};

/// Looks at `fd` (1 or 2) and at NO_COLOR and TERM.
Terminal describe_terminal(int fd);

/// Pure: https://no-color.org says any value but the empty one counts.
bool wants_colour(bool interactive, std::string_view no_color, std::string_view term);

bool is_terminal(int fd);
/// Lines that it shows; of what is none, or does not say, 24.
std::size_t terminal_rows(int fd);

/// Whether lines must end in a carriage return, too: the terminal is in raw mode, in which a
/// program that was killed may have left it.
bool needs_carriage_returns(int fd);

/// Whether a shell can stop and continue this process: there is a terminal it belongs to.
bool has_controlling_terminal();

}  // namespace knell
