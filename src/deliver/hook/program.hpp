#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace knell {

/// What is run for a hook.
struct HookProgram {
    std::vector<std::string> argv;  // absolute program first
    bool is_python_handler = false;
};

/// Where a program is, by `search_path` ($PATH).  Directories that somebody else could write in are
/// passed over: a program of theirs would be run as us.
Result<std::string> find_in_path(const std::string& name, std::string_view search_path);

/// What the hook in `directory` runs: its `command` when that is not empty, whose first word is
/// looked for in the directory and then in `search_path` ($PATH); else its handler.py; else its one
/// executable file.
Result<HookProgram> find_hook_program(const std::string& directory,
                                      const std::vector<std::string>& command,
                                      std::string_view search_path);

}  // namespace knell
