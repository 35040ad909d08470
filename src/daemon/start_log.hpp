#pragma once

#include "core/error.hpp"
#include "platform/paths.hpp"
#include "writer/writer.hpp"

namespace knell {

/// What a daemon says of itself when it listens.
void log_started(const Paths& paths, const Writer::Figures& figures);
/// Why it does not; gives the exit status.
int log_no_start(const Error& error);

}  // namespace knell
