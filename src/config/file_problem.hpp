#pragma once

#include <compare>
#include <string>
#include <vector>

namespace knell {

/// Where something stands in a text.
struct TextPlace {
    int line = 0;    // from 1; 0: the text as a whole
    int column = 0;  // from 1, in bytes; 0: the line as a whole

    auto operator<=>(const TextPlace&) const = default;
};

/// Something wrong with a file that a person wrote.
struct FileProblem {
    std::string file;
    TextPlace place;
    std::string message;  // what is wrong; what to do

    bool operator==(const FileProblem&) const = default;
};

/// "config.yaml:3:5", without what is not known: as compilers do, so that editors can jump there.
std::string to_text(const std::string& file, TextPlace place);

/// "config.yaml:3:5: what is wrong; what to do"
std::string to_text(const FileProblem& problem);

/// What is wrong with one file, collected so that a person sees all of it at once.
class FileProblems {
  public:
    explicit FileProblems(std::string file) : file_(std::move(file)) {}

    /// A value does not belong in a message: it may be a secret in the wrong place.  Past
    /// limits::file_problems_max they are dropped; there is enough to do by then.
    void add(TextPlace place, std::string message);

    bool empty() const { return found_.empty(); }
    std::vector<FileProblem> take();

  private:
    const std::string file_;
    std::vector<FileProblem> found_;  // in the order of their places
};

}  // namespace knell
