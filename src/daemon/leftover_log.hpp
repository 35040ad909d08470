#pragma once

#include "background/tree_stopper.hpp"
#include "engine/effect.hpp"
#include "watch/stopper.hpp"

namespace knell {

/// What is said of each process that is stopped, and of how that went.
void log_stopping(const StopLeftovers& order);
void log_fates(const StopOrder& order);
void log_stopped(const TreeStopper::Stopped& tree);

}  // namespace knell
