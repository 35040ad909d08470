#include "net/line_cutter.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell::net {
namespace {

using ::testing::ElementsAre;

struct Cut {
    explicit Cut(std::size_t bytes_max) : cutter(bytes_max, budget) {}
    bool operator()(std::string_view bytes) {
        return cutter.cut(bytes, [this](std::string_view line) { lines.emplace_back(line); });
    }

    MemoryBudget budget{1000, [] {}};
    LineCutter cutter;
    std::vector<std::string> lines;
};

RC_GTEST_PROP(LineCutter, GivesTheSameLinesHoweverTheyCome, ()) {
    const auto lines = *rc::gen::container<std::vector<std::string>>(
        rc::gen::container<std::string>(rc::gen::inRange('a', 'd')));
    std::string bytes;
    for (const auto& line : lines) bytes += line + "\n";
    Cut cut(1000);
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const auto count =
            static_cast<std::size_t>(*rc::gen::inRange(1, static_cast<int>(rest.size()) + 1));
        RC_ASSERT(cut(rest.substr(0, count)));
        rest.remove_prefix(count);
        RC_ASSERT(cut.budget.held() == cut.cutter.size());
    }
    RC_ASSERT(cut.lines == lines);
    RC_ASSERT(cut.budget.held() == 0U);
}

TEST(LineCutter, TakesALineOfFullLengthAndNoLongerOne) {
    Cut cut(4);
    EXPECT_TRUE(cut("abcd\nab"));
    EXPECT_TRUE(cut("cd"));
    EXPECT_EQ(cut.budget.held(), 4U);
    EXPECT_FALSE(cut("e"));
    EXPECT_THAT(cut.lines, ElementsAre("abcd"));
}

TEST(LineCutter, GivesWhatHasNoEndWhenAskedForIt) {
    Cut cut(10);
    EXPECT_TRUE(cut("a\nrest"));
    EXPECT_EQ(cut.cutter.take_rest(), "rest");
    EXPECT_EQ(cut.budget.held(), 0U);
    EXPECT_EQ(cut.cutter.size(), 0U);
}

}  // namespace
}  // namespace knell::net
