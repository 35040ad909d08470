#include "cli/help_text.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

TEST(FitHelp, BreaksProseAnewWhereItIsTooWide) {
    EXPECT_EQ(fit_help("one two three\nfour five\n\nsix\nseven\n", 10),
              "one two\nthree four\nfive\n\nsix\nseven\n");
}

TEST(FitHelp, LeavesAFileAndWhatFitsAlone) {
    const std::string text = "Usage: knell\n\nOptions:\n  -h   help\n";
    EXPECT_EQ(fit_help(text, 0), text);
    EXPECT_EQ(fit_help(text, 40), text);
}

TEST(FitHelp, GoesOnBelowWhatAnOptionDoes) {
    EXPECT_EQ(fit_help("  -h    print this help\n", 18), "  -h    print this\n        help\n");
}

TEST(FitHelp, PutsWhatALongExampleDoesBelowIt) {
    EXPECT_EQ(fit_help("  knell run -- claude    run an agent\n", 24),
              "  knell run -- claude\n      run an agent\n");
    EXPECT_EQ(fit_help("  files are in a folder\n", 16), "  files are in a\n  folder\n");
}

}  // namespace
}  // namespace knell::cli
