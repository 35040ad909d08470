#include "config/file_problem.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell {
namespace {

TEST(FileProblem, IsWrittenAsCompilersDo) {
    EXPECT_EQ(to_text({"a.yaml", 3, "is odd"}), "a.yaml:3: is odd");
    EXPECT_EQ(to_text({"a.yaml", 0, "is odd"}), "a.yaml: is odd");
}

TEST(FileProblem, StandInTheOrderOfTheLines) {
    FileProblems problems("a.yaml");
    problems.add(7, "third");
    problems.add(2, "first");
    problems.add(2, "second");

    const auto found = problems.take();

    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0], (FileProblem{"a.yaml", 2, "first"}));
    EXPECT_EQ(found[1], (FileProblem{"a.yaml", 2, "second"}));
    EXPECT_EQ(found[2], (FileProblem{"a.yaml", 7, "third"}));
    EXPECT_TRUE(problems.empty());
}

TEST(FileProblem, AreBounded) {
    FileProblems problems("a.yaml");
    for (int line = 1; line <= 10'000; ++line) problems.add(line, "odd");

    EXPECT_EQ(problems.take().size(), limits::file_problems_max);
}

}  // namespace
}  // namespace knell
