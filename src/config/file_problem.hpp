#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace knell {

/// Where something stands in a text.
struct TextPlace {
    int line = 0;    // from 1; 0: the text as a whole
    int column = 0;  // from 1, in bytes; 0: the line as a whole

    auto operator<=>(const TextPlace&) const = default;
};

enum class ProblemLevel : std::uint8_t {
    error,    // it cannot be used
    warning,  // it can, and does not do what it seems to
};
inline constexpr std::array<std::string_view, 2> problem_level_names{"error", "warning"};

/// Something wrong with a file that a person wrote.
struct FileProblem {
    std::string file;
    TextPlace place;
    std::string message;    // what is wrong
    std::string hint = {};  // what would be right, or what to do; "": the message says it
    std::string path = {};  // of the key, as in "webhooks[2].url"; "": the file as a whole
    ProblemLevel level = ProblemLevel::error;

    bool operator==(const FileProblem&) const = default;
};

/// `text` is "what is wrong; what would be right".
FileProblem make_problem(std::string file, TextPlace place, std::string path, std::string_view text,
                         ProblemLevel level = ProblemLevel::error);

bool has_errors(const std::vector<FileProblem>& problems);

/// "config.yaml:3:5", without what is not known: as compilers do, so that editors can jump there.
std::string to_text(const std::string& file, TextPlace place);

/// "config.yaml:3:5: events.keep_days: what is wrong; what would be right"
std::string to_text(const FileProblem& problem);

/// What is wrong with one file, collected so that a person sees all of it at once.
class FileProblems {
  public:
    explicit FileProblems(std::string file) : file_(std::move(file)) {}

    /// `text` is "what is wrong; what would be right".  A value does not belong in it: it may be a
    /// secret in the wrong place.  Past limits::file_problems_max they are dropped; there is enough
    /// to do by then.
    void add(TextPlace place, std::string path, std::string_view text) {
        add(make_problem(file_, place, std::move(path), text));
    }
    void add(FileProblem problem);
    void warn(TextPlace place, std::string path, std::string_view text) {
        add(make_problem(file_, place, std::move(path), text, ProblemLevel::warning));
    }

    const std::string& file() const { return file_; }
    bool has_errors() const { return !parts_in_error_.empty(); }
    /// "events", "webhooks[2]": the beginnings of the paths of all errors, also of those that were
    /// dropped.  "" is the file as a whole.
    const std::set<std::string, std::less<>>& parts_in_error() const { return parts_in_error_; }
    /// In the order of their places.
    std::vector<FileProblem> take();

  private:
    const std::string file_;
    std::vector<FileProblem> found_;  // in the order of their places
    std::set<std::string, std::less<>> parts_in_error_;
};

}  // namespace knell
