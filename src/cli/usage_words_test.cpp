#include "cli/usage_words.hpp"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

class UsageWords : public testing::Test {
  protected:
    UsageWords() {
        app.add_option("ID", id)->required();
        app.add_option("--limit,-n", limit)->check(CLI::Range(1, 1000));
        app.add_option("--after", after)->check(CLI::Range(std::int64_t{0}, INT64_MAX));
        app.add_option("--status", status)->check(CLI::IsMember({"running", "stalled", "ended"}));
        auto* json = app.add_flag("--json", is_json);
        app.add_flag("--tree,-t", is_tree)->excludes(json);
    }
    /// What is said of these arguments; "" when they are right.
    std::string said_of(std::vector<std::string> arguments) {
        if (auto unknown = unknown_option(app, arguments)) return *unknown;
        std::ranges::reverse(arguments);
        try {
            app.parse(arguments);
        } catch (const CLI::Error& error) {
            return usage_words(error);
        }
        return {};
    }

    CLI::App app{"what it does", "knell"};
    std::string id;
    int limit = 0;
    std::int64_t after = 0;
    std::string status;
    bool is_json = false;
    bool is_tree = false;
};

TEST_F(UsageWords, AnUnknownOptionIsToldWithTheNearest) {
    EXPECT_EQ(said_of({"s", "--statis", "ended"}),
              "there is no option \"--statis\"; did you mean \"--status\"?");
    EXPECT_EQ(said_of({"s", "--nonsense=3"}), "there is no option \"--nonsense\"");
    EXPECT_EQ(said_of({"s", "-x"}), "there is no option \"-x\"");
    EXPECT_EQ(said_of({"s", "-tx"}), "there is no option \"-x\"");
}

TEST_F(UsageWords, AValueIsNoOptionWhateverItLooksLike) {
    EXPECT_EQ(unknown_option(app, {"s", "--status", "--nonsense"}), std::nullopt);
    EXPECT_EQ(unknown_option(app, {"s", "-n5"}), std::nullopt);
    EXPECT_EQ(unknown_option(app, {"s", "-tn", "--nonsense"}), std::nullopt);
    EXPECT_EQ(unknown_option(app, {"s", "--", "--nonsense"}), std::nullopt);
}

TEST_F(UsageWords, WhatBelongsToACommandIsNotOurs) {
    app.prefix_command();

    EXPECT_EQ(unknown_option(app, {"-n", "5", "claude", "--resume"}), std::nullopt);
    EXPECT_NE(unknown_option(app, {"--resume", "claude"}), std::nullopt);
}

TEST_F(UsageWords, AWordThatIsNoneSaysWhatMayBeGiven) {
    EXPECT_EQ(
        said_of({"s", "--status", "stalles"}),
        "--status: \"stalles\" is none of: running, stalled, ended; did you mean \"stalled\"?");
}

TEST_F(UsageWords, NumbersSayTheirRange) {
    EXPECT_EQ(said_of({"s", "--limit", "0"}), "--limit: 0 is out of range; give 1 to 1000");
    EXPECT_EQ(said_of({"s", "--limit", "many"}),
              "--limit: \"many\" is no whole number; give 1 to 1000");
    EXPECT_EQ(said_of({"s", "--after", "-1"}), "--after: -1 is out of range; give 0 or more");
}

TEST_F(UsageWords, WhatIsMissingOrTooMuchIsNamed) {
    EXPECT_EQ(said_of({}), "ID is missing");
    EXPECT_EQ(said_of({"s", "--limit"}), "--limit needs a value");
    EXPECT_EQ(said_of({"s", "t"}), "there is no place for \"t\"");
    EXPECT_EQ(said_of({"s", "--json", "--tree"}), "--json and --tree do not go together");
}

}  // namespace
}  // namespace knell::cli
