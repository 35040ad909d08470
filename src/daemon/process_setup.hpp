#pragma once

#include "platform/paths.hpp"

namespace knell {

/// Makes this process one that can be a daemon: its name, its signals, its log, its memory.  Before
/// there are other threads.
void set_up_process(const Paths& paths);

}  // namespace knell
