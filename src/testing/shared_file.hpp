#pragma once

#include <optional>
#include <string>

namespace knell::testing {

/// A file that is kept beside the source tree, in ../shared or in the folder that KNELL_SHARED
/// names, and may not be there.
std::optional<std::string> shared_file(const std::string& name);

}  // namespace knell::testing
