#include "config/file_problem.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell {

std::string to_text(const std::string& file, TextPlace place) {
    if (place.line == 0) return file;
    if (place.column == 0) return fmt::format("{}:{}", file, place.line);
    return fmt::format("{}:{}:{}", file, place.line, place.column);
}

std::string to_text(const FileProblem& problem) {
    return fmt::format("{}: {}", to_text(problem.file, problem.place), problem.message);
}

void FileProblems::add(TextPlace place, std::string message) {
    if (found_.size() == limits::file_problems_max) return;
    const auto after = std::ranges::upper_bound(found_, place, {}, &FileProblem::place);
    found_.insert(after, {file_, place, std::move(message)});
}

std::vector<FileProblem> FileProblems::take() {
    return std::exchange(found_, {});
}

}  // namespace knell
