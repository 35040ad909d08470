#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "functional/harness/temp_home.hpp"

namespace knell::functional {

/// Runs `knell ARGUMENTS...` on a terminal where `typed` is typed at the question, unless it is "";
/// its exit status, and in `shown` what it said.
int on_terminal(const TempHome& home, std::vector<std::string> arguments, std::string_view typed,
                std::string& shown);

}  // namespace knell::functional
