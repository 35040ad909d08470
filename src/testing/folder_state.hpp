#pragma once

#include <string>

namespace knell::testing {

/// Every file below a folder with its inode, mode, length, times and bytes: equal only where nobody
/// touched anything.
std::string folder_state(const std::string& folder);

}  // namespace knell::testing
