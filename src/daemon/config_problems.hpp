#pragma once

#include <vector>

#include "config/file_problem.hpp"
#include "wire/config_report.hpp"

namespace knell {

/// For clients; paths in its sentences are those that the user knows, its file is a path.
void add_problem(std::vector<ConfigReport::Problem>& problems, const FileProblem& problem);

}  // namespace knell
