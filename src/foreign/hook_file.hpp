#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"

namespace knell::foreign {

/// What a HOOK.yaml says, Hermes' keys (name, description, events) and ours (command, timeout,
/// concurrency).  Keys that neither knows are left alone.
struct HookFile {
    std::string name;  // "": the directory's
    std::string description;
    std::vector<std::string> events;   // at least one
    std::vector<std::string> command;  // a list, or one string split at blanks as a shell would
    std::optional<std::chrono::seconds> timeout;
    std::optional<int> concurrency;
};

/// Everything that is wrong, or the file.  `path` is for the problems.
std::expected<HookFile, std::vector<FileProblem>> parse_hook_file(std::string_view text,
                                                                  std::string_view path);

}  // namespace knell::foreign
