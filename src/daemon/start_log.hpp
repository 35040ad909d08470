#pragma once

#include "platform/paths.hpp"
#include "writer/writer.hpp"

namespace knell {

/// What a daemon says of itself when it listens.
void log_started(const Paths& paths, const Writer::Figures& figures);

}  // namespace knell
