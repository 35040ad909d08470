#include "foreign/hook_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HookFile parsed(std::string_view text) {
    auto file = parse_hook_file(text, "HOOK.yaml");
    if (file) return std::move(*file);
    for (const auto& problem : file.error()) ADD_FAILURE() << to_text(problem);
    return {};
}

std::vector<std::string> complaints(std::string_view text) {
    std::vector<std::string> texts;
    const auto file = parse_hook_file(text, "HOOK.yaml");
    EXPECT_FALSE(file);
    if (file) return texts;
    for (const auto& problem : file.error()) texts.push_back(to_text(problem));
    return texts;
}

TEST(HookFile, OfHermesIsReadAsItIs) {
    const auto file = parsed(
        "name: session-logger\n"
        "description: >\n"
        "  Writes down\n"
        "  every session\n"
        "events:\n"
        "  - session:start\n"
        "  - session:end\n"
        "  - command:*\n"
        "author: somebody\n"
        "extra: {nested: [1, 2]}\n");

    EXPECT_EQ(file.name, "session-logger");
    EXPECT_EQ(file.description, "Writes down every session\n");
    EXPECT_THAT(file.events, ElementsAre("session:start", "session:end", "command:*"));
    EXPECT_THAT(file.command, IsEmpty());
    EXPECT_EQ(file.timeout, limits::hook_timeout_default);
    EXPECT_EQ(file.concurrency, 1);
}

TEST(HookFile, HasKeysOfOurOwn) {
    const auto file = parsed(
        "events: session:*\n"
        "command: [./notify, --to, 'the team']\n"
        "timeout: 5\n"
        "concurrency: 4\n");

    EXPECT_EQ(file.name, "");
    EXPECT_THAT(file.events, ElementsAre("session:*"));
    EXPECT_THAT(file.command, ElementsAre("./notify", "--to", "the team"));
    EXPECT_EQ(file.timeout, std::chrono::seconds{5});
    EXPECT_EQ(file.concurrency, 4);
}

TEST(HookFile, ATimeoutMayHaveAUnit) {
    EXPECT_EQ(parsed("events: [notice]\ntimeout: 2m\n").timeout, std::chrono::minutes{2});
}

TEST(HookFile, ACommandMayBeOneLine) {
    EXPECT_THAT(parsed("events: [notice]\ncommand: notify --to 'the team'\n").command,
                ElementsAre("notify", "--to", "the team"));
}

TEST(HookFile, WithoutEventsHearsNothing) {
    const auto* missing =
        "HOOK.yaml:1:1: events: is missing; write it, as in `events: [session:end]`";
    EXPECT_THAT(complaints("name: a\n"), ElementsAre(missing));
    EXPECT_THAT(complaints("events:\n"), ElementsAre(missing));
    EXPECT_THAT(complaints("events: []\n"),
                ElementsAre("HOOK.yaml:1:1: events: names none; list some, as in `events: "
                            "[session:end]`"));
}

TEST(HookFile, EveryMistakeIsToldWithItsLine) {
    EXPECT_THAT(
        complaints("name: [a]\n"
                   "events: {a: b}\n"
                   "command: \"run 'x\"\n"
                   "timeout: 11m\n"
                   "concurrency: 17\n"),
        ElementsAre("HOOK.yaml:1:1: name: must be text; put it in quotes",
                    "HOOK.yaml:2:1: events: must be a list; write one text a line, each after "
                    "a dash",
                    "HOOK.yaml:3:1: command: has no closing '; write one",
                    "HOOK.yaml:4:1: timeout: must be from 1s to 10m; write a whole number of "
                    "seconds, or one with a unit, as in 90s, 2m, 12h or 1d",
                    "HOOK.yaml:5:1: concurrency: is more than 16; write a whole number from 1 to "
                    "16"));
}

TEST(HookFile, ANameIsCheckedWhereItStands) {
    EXPECT_EQ(parsed("events: [notice]\nname: ''\n").name, "") << "the directory's";
    EXPECT_THAT(complaints("events: [notice]\nname: a b\n"),
                ElementsAre("HOOK.yaml:2:1: name: may hold only letters, digits and ._-; choose "
                            "another"));
    for (const auto* name : {".", ".."}) {
        EXPECT_THAT(complaints(std::string("events: [notice]\nname: ") + name),
                    ElementsAre("HOOK.yaml:2:1: name: is the name of a directory everywhere; "
                                "choose another"));
    }
    EXPECT_EQ(complaints("events: [notice]\nname: a/b\n").size(), 1U);
}

TEST(HookFile, ACommandHasABound) {
    std::string line = "command:";
    for (std::size_t i = 0; i <= limits::command_words_max; ++i) line += " a";
    EXPECT_THAT(complaints("events: [notice]\n" + line + "\n"),
                ElementsAre("HOOK.yaml:2:1: command: is longer than 256 words; put them into a "
                            "script"));
}

TEST(HookFile, AKeyStandsOnce) {
    EXPECT_THAT(
        complaints("events: [notice]\ntimeout: 5\ntimeout: 6\n"),
        ElementsAre("HOOK.yaml:3:1: timeout: is written twice, first in line 2; remove one of "
                    "both"));
}

TEST(HookFile, ACommandNamesAProgram) {
    for (const auto* command : {"''", "[]", "['']", "\"''\""}) {
        EXPECT_EQ(complaints(std::string("events: [notice]\ncommand: ") + command).size(), 1U)
            << command;
    }
}

TEST(HookFile, ThatHoldsNoKeysIsRefusedOnceAtItsBeginning) {
    for (const auto* text : {"", "\n\n", "# a remark\n# another\n", "just words", "- a\n", "42"}) {
        EXPECT_THAT(complaints(text), ElementsAre("HOOK.yaml:1:1: must be keys with values; "
                                                  "write them as `key: value`"))
            << text;
    }
}

TEST(HookFile, EveryProblemHasALineAndAColumn) {
    for (const auto* text : {"\xff", "events: [notice", "events: 'notice", "a: *b\n", "? [a]\n",
                             "events: [notice]\n---\nb: c\n", "events:\n\t- a\n", "a: b: c\n"}) {
        for (const auto& complaint : complaints(text)) {
            EXPECT_THAT(complaint, testing::MatchesRegex("HOOK\\.yaml:[0-9]+:[0-9]+: .*; .*"))
                << text;
        }
    }
}

TEST(HookFile, ANumberWithZerosBeforeItIsRefused) {
    EXPECT_THAT(complaints("events: [notice]\ntimeout: 010\nconcurrency: 02\n"),
                ElementsAre(testing::StartsWith("HOOK.yaml:2:1: timeout: must be from 1s to 10m"),
                            testing::StartsWith("HOOK.yaml:3:1: concurrency: must be a whole")));
}

TEST(HookFile, AKeyThatNearlyIsOursIsRemarkedOnAndAnyOtherIsLeftAlone) {
    EXPECT_THAT(parsed("events: [notice]\ntimout: 5\nauthor: ann\nversion: 2\n").remarks,
                ElementsAre("HOOK.yaml:2:1: timout: there is no such key; did you mean "
                            "\"timeout\"?"));
    EXPECT_THAT(parsed("events: [notice]\ncommand: run\ncommands: [a]\n").remarks, IsEmpty())
        << "ours stands there too";
    EXPECT_THAT(complaints("event: [notice]\n"),
                ElementsAre("HOOK.yaml:1:1: events: is missing; write it, as in `events: "
                            "[session:end]`",
                            "HOOK.yaml:1:1: event: there is no such key; did you mean "
                            "\"events\"?"));
}

}  // namespace
}  // namespace knell::foreign
