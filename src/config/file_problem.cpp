#include "config/file_problem.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell {

FileProblem make_problem(std::string file, TextPlace place, std::string path, std::string_view text,
                         ProblemLevel level) {
    constexpr std::string_view between = "; ";
    const auto end = text.find(between);
    const auto hint = end == std::string_view::npos ? "" : text.substr(end + between.size());
    return {.file = std::move(file),
            .place = place,
            .message = std::string(text.substr(0, end)),
            .hint = std::string(hint),
            .path = std::move(path),
            .level = level};
}

bool has_errors(const std::vector<FileProblem>& problems) {
    return std::ranges::find(problems, ProblemLevel::error, &FileProblem::level) != problems.end();
}

std::string to_text(const std::string& file, TextPlace place) {
    if (place.line == 0) return file;
    if (place.column == 0) return fmt::format("{}:{}", file, place.line);
    return fmt::format("{}:{}:{}", file, place.line, place.column);
}

std::string to_text(const FileProblem& problem) {
    return fmt::format("{}: {}{}{}{}{}", to_text(problem.file, problem.place), problem.path,
                       problem.path.empty() ? "" : ": ", problem.message,
                       problem.hint.empty() ? "" : "; ", problem.hint);
}

void FileProblems::add(FileProblem problem) {
    const auto& path = problem.path;
    if (problem.level == ProblemLevel::error) {
        parts_in_error_.insert(path.substr(0, path.find('.')));
    }
    const auto same_level = std::ranges::count(found_, problem.level, &FileProblem::level);
    if (static_cast<std::size_t>(same_level) == limits::file_problems_max) return;
    const auto after = std::ranges::upper_bound(found_, problem.place, {}, &FileProblem::place);
    found_.insert(after, std::move(problem));
}

std::vector<FileProblem> FileProblems::take() {
    parts_in_error_.clear();
    return std::exchange(found_, {});
}

}  // namespace knell
