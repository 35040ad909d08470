#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace knell::cli {

/// Makes a hook to start from in `hooks_dir`: a HOOK.yaml and a script that works as it is, both
/// with comments.  Gives its directory.  `blocked` when there is something of that name.
Result<std::string> make_new_hook(const std::string& hooks_dir, const std::string& name);

/// What those two files say.  Pure.
std::string new_hook_manifest(std::string_view name);
std::string new_hook_script(std::string_view name);

}  // namespace knell::cli
