#pragma once

#include <string>
#include <vector>

#include "config/file_problem.hpp"
#include "deliver/hook/spec.hpp"

namespace knell {

/// Why a hook is not run.
struct HookProblem {
    std::string hook;  // the name of its directory; "" when it is about all of them
    FileProblem what;

    bool operator==(const HookProblem&) const = default;
};

/// Everything under hooks/, in the order of the directories' names.
struct HookDirectory {
    std::vector<HookSpec> hooks;
    std::vector<HookProblem> problems;
};

/// Each directory in `hooks_dir` (an absolute path) with a HOOK.yaml is a hook, except those whose
/// name begins with '.' or '_'.  One that is wrong is a problem and leaves the others alone.  What
/// somebody else could change is never run.  Without the directory there are no hooks.
HookDirectory read_hooks(const std::string& hooks_dir);

}  // namespace knell
