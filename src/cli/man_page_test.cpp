#include "cli/man_page.hpp"

#include <array>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ManPage, TextStandsAsItIs) {
    EXPECT_EQ(roff_text("--json"), "\\-\\-json");
    EXPECT_EQ(roff_text(".PP\n'x'"), "\\&.PP\n\\&\\(aqx\\(aq");
    EXPECT_EQ(roff_text("a\\b ~/c"), "a\\eb \\(ti/c");
}

TEST(ManPage, OfKnellHasEveryVerbWithItsOptionsAndExamples) {
    CLI::App app{"what it does", "knell"};
    std::string title;
    auto* run = app.add_subcommand("run");
    run->add_option("--title", title, "What it is called")->option_text("T");
    run->footer("\nIt runs.\n\nExamples:\n  knell run -- ls\n\nExit status: 0.");
    constexpr std::array verbs{VerbFacts{"run", "[OPTIONS]", "", "Run a command"}};

    const auto page = man_of_knell(app, verbs);

    EXPECT_THAT(page, StartsWith(".TH KNELL 1 "));
    EXPECT_THAT(page, HasSubstr(".SS knell run\n"));
    EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-\\-title\\fR \\fIT\\fR\nWhat it is called\n"));
    EXPECT_THAT(page, HasSubstr("Examples:\n.PP\n.nf\n  knell run \\-\\- ls\n.fi\n"));
    EXPECT_THAT(page, Not(HasSubstr("\n\n")));
}

TEST(ManPage, OfTheConfigAndOfHooksHaveEveryKey) {
    EXPECT_THAT(man_of_config(), HasSubstr("\\fBevents.keep_days\\fR\n"));
    EXPECT_THAT(man_of_config(), HasSubstr("Default: 30.\n"));
    EXPECT_THAT(man_of_hooks(), HasSubstr("\\fBretries\\fR\n"));
    EXPECT_THAT(man_of_hooks(), HasSubstr("session:end"));
    EXPECT_THAT(man_of_hooks(), Not(HasSubstr("\\(ga")));
}

}  // namespace
}  // namespace knell::cli
