#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"

namespace knell {

/// The whole of a small file (/proc and the like), or nothing when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);
/// The same below an open folder; errno says why not.
std::optional<std::string> read_small_file_in(int folder, const char* path);

/// The whole of a regular file that a person wrote.  `not_found` when there is none; `limit` when
/// it is longer than `bytes_max`.  Never waits, whatever stands in its place.  The error says what
/// is wrong with it; to name it is the caller's.
Result<std::string> read_regular_file(const std::string& path, std::size_t bytes_max);

}  // namespace knell
