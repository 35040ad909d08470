#include "config/config_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The keys that are warned of.
std::vector<std::string> warned_of(std::string_view text) {
    std::vector<std::string> paths;
    for (const auto& problem : usable_part(text, "/c", "/home/ann").problems) {
        if (problem.level == ProblemLevel::warning) paths.push_back(problem.path);
    }
    return paths;
}

TEST(ConfigWarnings, WhatSaysAllThatItNeedsHasNone) {
    for (const auto* text :
         {"", "session_reset: {mode: none}\n", "session_reset: {mode: idle}\n",
          "session_reset: {mode: both, at: 6}\n", "session_reset: {mode: daily, at: '04:00'}\n",
          "processes: {max: 10}\n", "processes: {max: 10, per_session: 10}\n",
          "summarizer: {fallback: tail, tail_messages: 5}\n",
          "session_reset:\n  at: 6\n  overrides: [{source: cli, mode: daily}]\n",
          "session_reset:\n  overrides: [{source: cli, mode: daily, at: 6}]\n"}) {
        EXPECT_THAT(warned_of(text), IsEmpty()) << text;
    }
}

TEST(ConfigWarnings, ADayHasItsHour) {
    EXPECT_THAT(warned_of("session_reset: {mode: daily}\n"), ElementsAre("session_reset.at"));
    EXPECT_THAT(warned_of("session_reset: {mode: both, at: }\n"), ElementsAre("session_reset.at"));
    EXPECT_THAT(warned_of("session_reset:\n  overrides: [{source: cli, mode: both}]\n"),
                ElementsAre("session_reset.overrides[source cli].at"));
}

TEST(ConfigWarnings, WhatTheModeDoesNotUseIsNamed) {
    EXPECT_THAT(
        warned_of("session_reset: {idle_minutes: 5, at: 6, time_zone: UTC}\n"),
        ElementsAre("session_reset.idle_minutes", "session_reset.at", "session_reset.time_zone"));
    EXPECT_THAT(warned_of("session_reset:\n  idle_minutes: 5\n"
                          "  overrides: [{source: cli, mode: idle}]\n"),
                IsEmpty())
        << "the override uses it";
}

TEST(ConfigWarnings, BesideAnErrorAreNone) {
    EXPECT_THAT(warned_of("session_reset: {mode: daily, at: 24}\n"), IsEmpty());
    EXPECT_THAT(warned_of("session_reset: {mode: dayly, at: 6}\n"), IsEmpty());
}

}  // namespace
}  // namespace knell
