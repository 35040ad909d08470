#pragma once

#include <string>

namespace knell {

/// Why the path cannot serve as a regular file, and what to do, as the end of a sentence: "it is a
/// directory; move it away".  Empty when a regular file or nothing is there.
std::string why_no_file(const std::string& path);

}  // namespace knell
