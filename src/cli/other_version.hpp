#pragma once

#include <optional>
#include <string>

#include "platform/paths.hpp"

namespace knell::cli {

/// What to say where the daemon of this home runs another version of knell than this is; nothing
/// where it is the same, or where that cannot be told.  Asks a daemon only if it runs another file.
std::optional<std::string> other_version(const Paths& paths);

/// Pure.  Versions as `knell --version` has them, with their commits.
std::string words_of_other_version(int pid, const std::string& daemons, const std::string& ours);

}  // namespace knell::cli
