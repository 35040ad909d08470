#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"

namespace knell::foreign {

/// What a HOOK.yaml says, by the rows of foreign/hook_keys.hpp.  Other keys are left alone.
struct HookFile {
    std::string name;  // "": the directory's
    std::string description;
    std::vector<std::string> events;   // at least one
    std::vector<std::string> command;  // none: see find_hook_program
    /// The default where the file says nothing: a file that was read has both.
    std::optional<std::chrono::seconds> timeout;
    std::optional<int> concurrency;
    std::optional<int> retries;  // none: it does not say
    /// Where these stand; the beginning of the file where they do not.
    TextPlace name_place;
    TextPlace command_place;
    /// What is odd, though the file can be used: keys that nearly are ours.
    std::vector<std::string> remarks;
};

/// Everything that is wrong, or the file.  `path` is for the problems.
std::expected<HookFile, std::vector<FileProblem>> parse_hook_file(std::string_view text,
                                                                  std::string_view path);

}  // namespace knell::foreign
