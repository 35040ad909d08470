#include "foreign/hermes/env_file.hpp"

#include <gtest/gtest.h>

namespace knell::hermes {
namespace {

TEST(EnvFile, GivesWhatEachLineSets) {
    const auto lines = parse_env_file(
        "# A remark\n\nA=1\n export B = 'two words' # and why\nC=\"#3\"\nD=x#y # z\r\nno "
        "line\n=\nE=");

    ASSERT_EQ(lines.size(), 6U);
    EXPECT_EQ(lines[0].name + "=" + lines[0].value, "A=1");
    EXPECT_EQ(lines[0].line, 3);
    EXPECT_EQ(lines[1].name + "=" + lines[1].value, "B=two words");
    EXPECT_EQ(lines[2].value, "#3");
    EXPECT_EQ(lines[3].value, "x#y");
    EXPECT_EQ(lines[4].name, "");
    EXPECT_EQ(lines[5].line, 9);
}

TEST(EnvFile, TheLastLineHolds) {
    const auto lines = parse_env_file("A=1\nA=2\nB=\n");

    EXPECT_EQ(find_env(lines, "A")->value, "2");
    EXPECT_EQ(find_env(lines, "B"), nullptr) << "set to nothing";
    EXPECT_EQ(find_env(lines, "C"), nullptr);
}

}  // namespace
}  // namespace knell::hermes
