#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"
#include "deliver/hook/program.hpp"
#include "platform/file_trust.hpp"

namespace knell {

/// What one run of a hook executes, found to be only ours a moment ago and held open since.
struct HookCommand {
    OwnFile directory;
    OwnFile program;
    bool is_script = false;  // begins with #!
    std::vector<std::string> argv;
};

/// Why a command is not to be run.
struct CommandProblem {
    FileProblem what;
    /// Not the command's fault: the system is short of what it takes to look.
    bool is_shortage = false;
};

/// Looks at everything that the command runs: the directory it runs in, the program, the
/// interpreter of its #! line, scripts of the hook's own that it is given as words, and for a
/// handler.py the python3 of the PATH.  What somebody else could change is a problem, and so is
/// what is not there.
std::expected<HookCommand, CommandProblem> open_hook_command(const std::string& directory,
                                                             const HookProgram& program,
                                                             std::string_view search_path);

}  // namespace knell
