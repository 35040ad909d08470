#include "daemon/config_problems.hpp"

#include "platform/path_names.hpp"

namespace knell {

void add_problem(std::vector<ConfigReport::Problem>& problems, const FileProblem& problem) {
    const auto names = PathNames::from_environment();
    problems.push_back({.file = problem.file,
                        .line = problem.place.line,
                        .column = problem.place.column,
                        .path = problem.path,
                        .is_error = problem.level == ProblemLevel::error,
                        .message = names.in(problem.message),
                        .hint = names.in(problem.hint)});
}

}  // namespace knell
