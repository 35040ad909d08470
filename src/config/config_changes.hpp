#pragma once

#include <string>
#include <vector>

#include "config/setting.hpp"

namespace knell {

/// What is set otherwise than before, one text each: "events.keep_days 30 -> 7", "webhook ops
/// added".  Only values that hold otherwise count, not how or where they are written.  Past a
/// bound the rest is counted.
std::vector<std::string> config_changes(const std::vector<Setting>& before,
                                        const std::vector<Setting>& after);

}  // namespace knell
