#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace knell {

/// Writes a file that is not there yet, for us alone (0600), with the directories it lacks.
/// `blocked` when something has its name already, be it a link that leads nowhere: that is left as
/// it is.
Result<void> write_new_file(const std::string& path, std::string_view text);

}  // namespace knell
