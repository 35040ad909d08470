#include "cli/run_title.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

TEST(DefaultTitle, IsTheCommandLineWithoutItsDirectory) {
    EXPECT_EQ(default_title({"/usr/bin/make", "-j", "check"}), "make -j check");
    EXPECT_EQ(default_title({"claude"}), "claude");
}

TEST(DefaultTitle, IsOneCleanLine) {
    EXPECT_EQ(default_title({"sh", "-c", "a\nb\x1b"}), "sh -c a b?");
    EXPECT_EQ(default_title({"sh", "\xff"}), "sh ?");
}

TEST(DefaultTitle, IsCutBetweenCharacters) {
    const auto title = default_title({"x", std::string(197, 'a') + "日本"});

    EXPECT_EQ(title, "x " + std::string(197, 'a'));
    EXPECT_EQ(default_title({std::string(5000, 'b')}).size(), default_title_bytes_max);
}

TEST(CutUtf8, LeavesWhatFits) {
    EXPECT_EQ(cut_utf8("日本", 6), "日本");
    EXPECT_EQ(cut_utf8("日本", 5), "日");
    EXPECT_EQ(cut_utf8("日本", 2), "");
}

}  // namespace
}  // namespace knell::cli
