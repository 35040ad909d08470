#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/terminal.hpp"

namespace knell::cli {

struct Bar {
    std::string label;
    std::int64_t value = 0;
    std::string shown;  // the value, for people
};

/// A line a bar: label, bar, value.  The longest takes what room the terminal has; whatever is
/// above 0 is seen.  A file or a pipe has 80 columns.  Pure.
std::string bar_chart(const std::vector<Bar>& bars, const Terminal& terminal);

/// "999", "1.2k", "340k", "1.2M" ...
std::string short_number(std::int64_t number);

}  // namespace knell::cli
