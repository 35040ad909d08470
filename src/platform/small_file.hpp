#pragma once

#include <optional>
#include <string>

namespace knell {

/// The whole of a small file (/proc and the like), or nothing when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

}  // namespace knell
