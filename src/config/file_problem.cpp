#include "config/file_problem.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell {

std::string to_text(const FileProblem& problem) {
    if (problem.line == 0) return fmt::format("{}: {}", problem.file, problem.message);
    return fmt::format("{}:{}: {}", problem.file, problem.line, problem.message);
}

void FileProblems::add(int line, std::string message) {
    if (found_.size() == limits::file_problems_max) return;
    const auto place = std::ranges::upper_bound(found_, line, {}, &FileProblem::line);
    found_.insert(place, {file_, line, std::move(message)});
}

std::vector<FileProblem> FileProblems::take() {
    return std::exchange(found_, {});
}

}  // namespace knell
