#include "config/file_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell {
namespace {

TEST(FileProblem, IsWrittenAsCompilersDo) {
    EXPECT_EQ(to_text({"a.yaml", {3, 5}, "is odd"}), "a.yaml:3:5: is odd");
    EXPECT_EQ(to_text({"a.yaml", {3, 0}, "is odd"}), "a.yaml:3: is odd");
    EXPECT_EQ(to_text({"a.yaml", {}, "is odd"}), "a.yaml: is odd");
    EXPECT_EQ(to_text(make_problem("a.yaml", {3, 5}, "b.c", "is odd; write one; or two")),
              "a.yaml:3:5: b.c: is odd; write one; or two");
}

TEST(FileProblem, SaysApartWhatWouldBeRight) {
    const auto problem = make_problem("a.yaml", {}, "b", "is odd; write one; or two");
    EXPECT_EQ(problem.message, "is odd");
    EXPECT_EQ(problem.hint, "write one; or two");
    EXPECT_EQ(make_problem("a.yaml", {}, "b", "is odd").hint, "");
}

TEST(FileProblem, StandInTheOrderOfTheirPlaces) {
    FileProblems problems("a.yaml");
    problems.add({7, 1}, "", "fourth");
    problems.add({2, 9}, "", "third");
    problems.add({2, 1}, "", "first");
    problems.add({2, 1}, "", "second");

    const auto found = problems.take();

    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0], (FileProblem{"a.yaml", {2, 1}, "first"}));
    EXPECT_EQ(found[1], (FileProblem{"a.yaml", {2, 1}, "second"}));
    EXPECT_EQ(found[2], (FileProblem{"a.yaml", {2, 9}, "third"}));
    EXPECT_EQ(found[3], (FileProblem{"a.yaml", {7, 1}, "fourth"}));
    EXPECT_FALSE(problems.has_errors());
}

TEST(FileProblem, AreBounded) {
    FileProblems problems("a.yaml");
    for (int line = 1; line <= 10'000; ++line) problems.add({line, 1}, "a", "odd");

    problems.warn({1, 1}, "c", "odd too");
    problems.add({1, 1}, "b[2].d", "odd");

    EXPECT_THAT(problems.parts_in_error(), ::testing::ElementsAre("a", "b[2]"))
        << "also of those that were dropped";
    EXPECT_EQ(problems.take().size(), limits::file_problems_max + 1) << "errors hide no warnings";
}

}  // namespace
}  // namespace knell
