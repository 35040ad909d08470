#pragma once

#include <string_view>

#include "platform/marked_run.hpp"

namespace knell {

/// What is said of the processes that programs of an earlier daemon have left; `kind`: "hook".
void log_orphans(const StoppedOrphans& orphans, std::string_view kind);

}  // namespace knell
