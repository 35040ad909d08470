#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell::client {

/// The last `count` lines of `text` that are not empty, newlines between them.  Pure.
std::string last_lines(std::string_view text, std::size_t count);

/// The size of the file, or 0: where what is written from now on will start.
std::size_t log_size(const std::string& path);

/// The last `count` lines of what was written to the file from byte `start` on; "" when nothing
/// was, or it cannot be read.
std::string log_tail(const std::string& path, std::size_t start, std::size_t count);

}  // namespace knell::client
