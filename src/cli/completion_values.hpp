#pragma once

#include <vector>

#include "cli/completion.hpp"
#include "platform/paths.hpp"

namespace knell::cli {

/// What there is of that now.  Asks the daemon that runs, if one does, for a second at most; starts
/// none and says nothing: somebody is typing.
std::vector<Candidate> look_up(Wanted wanted, const Paths& paths);

}  // namespace knell::cli
