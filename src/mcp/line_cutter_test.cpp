#include "mcp/line_cutter.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace knell::mcp {
namespace {

/// Every line, "<too long>" for one that was; what has no end yet is left out.
std::vector<std::string> cut(LineCutter& cutter, std::string_view bytes) {
    cutter.add(bytes);
    std::vector<std::string> lines;
    std::string line;
    for (;;) {
        const auto found = cutter.next(line);
        if (found == LineCutter::Cut::none) return lines;
        lines.push_back(found == LineCutter::Cut::line ? line : "<too long>");
    }
}
using Lines = std::vector<std::string>;

TEST(LineCutter, CutsWhereverTheBytesWereCut) {
    LineCutter cutter(10);
    EXPECT_EQ(cut(cutter, "one\ntw"), Lines{"one"});
    EXPECT_EQ(cut(cutter, "o"), Lines{});
    EXPECT_EQ(cut(cutter, "\n\nfour\n"), (Lines{"two", "", "four"}));
}

TEST(LineCutter, OfALineThatIsTooLongKeepsNothingAndGoesOnBehindIt) {
    LineCutter cutter(4);
    EXPECT_EQ(cut(cutter, "1234\n12345\nab\n"), (Lines{"1234", "<too long>", "ab"}));
    EXPECT_EQ(cut(cutter, "12345"), Lines{});
    EXPECT_EQ(cut(cutter, std::string(1000, 'x')), Lines{});
    EXPECT_EQ(cut(cutter, "\nok\n"), (Lines{"<too long>", "ok"}));
}

TEST(LineCutter, EveryByteByItself) {
    LineCutter cutter(3);
    Lines lines;
    for (const char c : std::string_view("a\nbcd\nefgh\ni\n")) {
        for (auto& line : cut(cutter, {&c, 1})) lines.push_back(std::move(line));
    }
    EXPECT_EQ(lines, (Lines{"a", "bcd", "<too long>", "i"}));
}

}  // namespace
}  // namespace knell::mcp
