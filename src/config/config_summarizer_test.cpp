#include "config/config_summarizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/config_changes.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Config parsed(std::string_view text) {
    auto config = parse_config(text, "/c", "/home/ann");
    if (config) return std::move(*config);
    for (const auto& problem : config.error()) ADD_FAILURE() << to_text(problem);
    return {};
}

std::vector<std::string> complaints(std::string_view text) {
    std::vector<std::string> texts;
    const auto config = parse_config(text, "/c", "/home/ann");
    EXPECT_FALSE(config) << text;
    if (config) return texts;
    for (const auto& problem : config.error()) texts.push_back(to_text(problem));
    return texts;
}

TEST(ConfigSummarizer, WithoutAWordIsNone) {
    EXPECT_EQ(parsed("").summarizer, SummarizerSettings{});
    EXPECT_EQ(parsed("summarizer:\n").summarizer, SummarizerSettings{});
    EXPECT_EQ(parsed("summarizer: {providers: []}\n").summarizer, SummarizerSettings{});
}

TEST(ConfigSummarizer, IsAListOfProgramsInOrder) {
    const auto config = parsed(
        "summarizer:\n  at_tokens: 120000\n  fallback: tail\n  tail_messages: 5\n"
        "  cool_down: 1h\n  providers:\n"
        "    - {name: near, command: [summarize, '', 5]}\n"
        "    - {name: far, command: curl 'a b', timeout: 30}\n");

    EXPECT_EQ(config.summarizer,
              (SummarizerSettings{
                  .providers = {{.name = "near", .command = {"summarize", "", "5"}},
                                {.name = "far", .command = {"curl", "a b"}, .timeout = 30s}},
                  .at_tokens = 120'000,
                  .fallback = SummarizerSettings::Fallback::tail,
                  .tail_messages = 5,
                  .cool_down = 1h}));
}

TEST(ConfigSummarizer, ThatIsToStartAndHasNoProviderIsRemarked) {
    const auto remarks = [](std::string_view text) {
        return remarks_about(parsed(text).summarizer);
    };
    EXPECT_THAT(remarks(""), ElementsAre());
    EXPECT_THAT(remarks("summarizer: {at_tokens: 5, providers: [{name: a, command: b}]}\n"),
                ElementsAre());
    EXPECT_THAT(remarks("summarizer: {at_tokens: 5}\n"),
                ElementsAre("at_tokens is 5 and there are no providers: no conversation past that "
                            "can be summed up; add one"));
    EXPECT_THAT(remarks("summarizer: {at_tokens: 5, fallback: tail}\n"),
                ElementsAre("at_tokens is 5 and there are no providers: a conversation past that "
                            "goes on with its last messages alone"));
}

TEST(ConfigSummarizer, AProviderHasANameOfItsOwnAndAProgram) {
    EXPECT_THAT(
        complaints("summarizer: {providers: [{timeout: 5}]}\n"),
        ElementsAre(
            "/c:1:26: summarizer.providers[1].name: is missing; write it, as in `name: local`",
            "/c:1:26: summarizer.providers[1].command: is missing; write it, as in `command: "
            "[summarize, "
            "--short]`"));
    for (const auto* command : {"[]", "['']", "''", "['', a]"}) {
        EXPECT_THAT(
            complaints("summarizer:\n  providers:\n    - name: a\n      command: " +
                       std::string(command) + "\n"),
            ElementsAre(
                "/c:4:7: summarizer.providers[1].command: names no program; write it first"))
            << command;
    }
    EXPECT_THAT(complaints("summarizer:\n  providers:\n    - {name: a, command: x}\n"
                           "    - {name: a, command: y}\n"),
                ElementsAre("/c:4:7: summarizer.providers[2].name: another provider has this name; "
                            "choose one that is not "
                            "taken"));
    EXPECT_THAT(complaints("summarizer: {providers: [x]}\n"),
                ElementsAre("/c:1:26: summarizer.providers[1]: must be keys with values; write "
                            "them as `key: value`"));
}

TEST(ConfigSummarizer, HasBounds) {
    EXPECT_THAT(
        complaints("summarizer: {fallback: drop}\n"),
        ElementsAre(
            "/c:1:14: summarizer.fallback: must be keep or tail; write one of these words"));
    EXPECT_THAT(
        complaints("summarizer: {tail_messages: 0}\n"),
        ElementsAre("/c:1:14: summarizer.tail_messages: is less than 1; write a whole number "
                    "from 1 to 1000"));
    EXPECT_THAT(complaints("summarizer: {at_tokens: -1}\n"),
                ElementsAre("/c:1:14: summarizer.at_tokens: is less than 0; write a whole number "
                            "from 0 to 1000000000"));
    EXPECT_EQ(parsed("summarizer: {cool_down: 0}\n").summarizer.cool_down, 0s);
}

TEST(ConfigSummarizer, AReloadSaysWhatChanged) {
    const auto before = parsed("summarizer:\n  providers:\n    - {name: a, command: x}\n");
    const auto after = parsed(
        "summarizer:\n  at_tokens: 5\n  providers:\n    - {name: a, command: x -y}\n"
        "    - {name: b, command: z}\n");

    EXPECT_THAT(config_changes(before.settings, after.settings),
                ElementsAre("summarizer.at_tokens 0 -> 5", "provider b added",
                            "summarizer.providers[a].command x -> x, -y"));
}

}  // namespace
}  // namespace knell
