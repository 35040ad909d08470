#pragma once

#include <string>

#include "core/error.hpp"

namespace knell {

/// Makes `path` and the parents it lacks, each 0700.  What exists already is left as it is.
Result<void> make_private_directories(const std::string& path);

}  // namespace knell
