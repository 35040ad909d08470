#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace knell {

/// Where programs are when nobody says.
inline constexpr std::string_view default_search_path = "/usr/local/bin:/usr/bin:/bin";

/// What every program that we start finds in its environment, as NAME=value: of ours only what
/// programs need to find their way (the daemon may have been started from a shell full of secrets).
/// The PATH is without the directories that somebody else could put a program into.
///
/// `ours` is an environment as C has it: ended by a null pointer.  `limit`: the PATH cannot be
/// looked at for now.
Result<std::vector<std::string>> base_environment(const char* const* ours);

/// One more.  A value that is empty or cannot be told whole is left out: half an id is the id of
/// something else.
void add_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value);

}  // namespace knell
