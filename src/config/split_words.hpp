#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace knell {

/// Splits a command line into words as a POSIX shell would: at blanks, with quotes and backslashes.
/// Nothing is expanded, and no shell is asked.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace knell
