#include "config/config_reset.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/config_changes.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Config parsed(std::string_view text, const std::string& machine_zone = "Asia/Tokyo") {
    auto config = parse_config(text, "/c", "/home/ann", machine_zone);
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

std::string section(std::string_view keys) {
    return fmt::format("session_reset: {{{}}}\n", keys);
}

std::string overrides(std::string_view items) {
    return fmt::format("session_reset:\n  mode: idle\n  overrides:\n{}", items);
}

TEST(ConfigReset, WithoutAWordResetsNothing) {
    for (const auto* text : {"", "session_reset:\n", "session_reset: {overrides: []}\n"}) {
        const auto config = parsed(text);
        const auto& policy = config.reset_policies->of({.source = "cli"});
        EXPECT_EQ(policy.mode, ResetMode::none);
        EXPECT_EQ(policy.idle, 1440min);
        EXPECT_EQ(policy.at, 4h);
        EXPECT_EQ(policy.on_reset, OnReset::warn);
        EXPECT_EQ(policy.process_max_age, 24h);
        EXPECT_EQ(policy.name, "session_reset");
        EXPECT_FALSE(config.reset_policies->resets_any());
    }
    EXPECT_FALSE(Config{}.reset_policies->resets_any());
}

TEST(ConfigReset, SaysWhatHoldsForAll) {
    const auto config = parsed(
        "session_reset:\n  mode: both\n  idle_minutes: 90\n  at: 06:30\n"
        "  time_zone: Europe/Berlin\n  process_max_age: 2h\n  on_reset: stop\n");

    EXPECT_EQ(config.reset_policies->of({}),
              (ResetPolicy{.mode = ResetMode::both,
                           .idle = 90min,
                           .at = 6h + 30min,
                           .zone = TimeZone::find("Europe/Berlin").value(),
                           .on_reset = OnReset::stop,
                           .process_max_age = 2h,
                           .name = "session_reset"}));
    EXPECT_EQ(config.session_reset, config.reset_policies->base());
}

TEST(ConfigReset, ATimeOfDayIsAnHourOrHoursAndMinutes) {
    const auto time = [](std::string_view text) {
        return parsed(section(fmt::format("at: {}", text))).session_reset.at;
    };
    EXPECT_EQ(time("6"), 6h);
    EXPECT_EQ(time("'6'"), 6h);
    EXPECT_EQ(time("'06'"), 6h);
    EXPECT_EQ(time("0"), 0min);
    EXPECT_EQ(time("06:00"), 6h);
    EXPECT_EQ(time("'6:05'"), 6h + 5min);
    EXPECT_EQ(time("\"23:59\""), 23h + 59min);
    for (const auto* text : {"24", "-1", "06", "1.5", "'24:00'", "6:5", "6:60", "noon", "[6]",
                             "{a: 6}", "6h", "true", "''"}) {
        EXPECT_THAT(complaints(section(fmt::format("at: {}", text))),
                    ElementsAre("/c:1:17: session_reset.at: must be a time of day; write an hour "
                                "from 0 to 23, as 6 and not 06, or "
                                "hours and minutes, as in 04:30"))
            << text;
    }
}

TEST(ConfigReset, TheTimeIsTheMachinesUnlessAZoneIsNamed) {
    EXPECT_EQ(parsed("session_reset: {mode: daily}\n").session_reset.zone.name(), "Asia/Tokyo");
    EXPECT_EQ(parsed("session_reset: {time_zone: local}\n").session_reset.zone.name(),
              "Asia/Tokyo");
    EXPECT_EQ(parsed("session_reset: {time_zone: UTC}\n").session_reset.zone, TimeZone());
    for (const auto* unknown : {"", "CET-1CEST", "Nowhere/Land"}) {
        EXPECT_EQ(parsed("session_reset: {mode: daily}\n", unknown).session_reset.zone, TimeZone());
    }
}

TEST(ConfigReset, AZoneThatThereIsNotIsTold) {
    EXPECT_THAT(
        complaints(section("time_zone: Europe/Berln")),
        ElementsAre("/c:1:17: session_reset.time_zone: there is no such time zone; did you mean "
                    "\"Europe/Berlin\"?"));
    EXPECT_THAT(
        complaints(section("time_zone: Winterfell")),
        ElementsAre(
            "/c:1:17: session_reset.time_zone: there is no such time zone; write its IANA name, "
            "as in Europe/Berlin, or local"));
}

TEST(ConfigReset, WhatWouldResetAtOnceIsRefused) {
    for (const auto* text : {"0", "-5"}) {
        EXPECT_THAT(complaints(section(fmt::format("idle_minutes: {}", text))),
                    ElementsAre("/c:1:17: session_reset.idle_minutes: is less than 1; write a "
                                "whole number from 1 to 525600"));
    }
    EXPECT_THAT(complaints(section("idle_minutes: 525601")),
                ElementsAre("/c:1:17: session_reset.idle_minutes: is more than 525600; write a "
                            "whole number from 1 to 525600"));
    for (const auto* text : {"1h", "'60'"}) {
        EXPECT_THAT(
            complaints(section(fmt::format("idle_minutes: {}", text))),
            ElementsAre(
                "/c:1:17: session_reset.idle_minutes: must be a whole number from 1 to 525600; "
                "write it without a unit, quotes and zeros before it"));
    }
}

TEST(ConfigReset, OtherWordsAreRefused) {
    EXPECT_THAT(
        complaints(section("mode: weekly")),
        ElementsAre("/c:1:17: session_reset.mode: must be none, idle, daily or both; write one of "
                    "these words"));
    EXPECT_THAT(
        complaints(section("on_reset: kill")),
        ElementsAre("/c:1:17: session_reset.on_reset: must be keep, warn or stop; write one of "
                    "these words"));
    EXPECT_THAT(complaints(section("process_max_age: 0")),
                ElementsAre("/c:1:17: session_reset.process_max_age: must be from 1s to 365d; "
                            "write a whole number of "
                            "seconds, or one with a unit, as in 90s, 2m, 12h or 1d"));
    EXPECT_THAT(
        complaints(section("idle: 5")),
        ElementsAre(
            "/c:1:17: session_reset.idle: there is no such key; write one of: mode, idle_minutes, "
            "at, time_zone, process_max_age, on_reset, overrides"));
}

TEST(ConfigReset, AnOverrideTakesTheRestFromTheSection) {
    const auto config = parsed(
        "session_reset:\n  mode: both\n  idle_minutes: 90\n  at: 5\n  time_zone: Europe/Berlin\n"
        "  overrides:\n"
        "    - {platform: telegram, chat_type: dm, mode: idle, idle_minutes: 30}\n"
        "    - {key: 'telegram:42', mode: none}\n"
        "    - {source: cron, time_zone: local, at: 23, on_reset: keep, process_max_age: 1h}\n");
    const auto& policies = *config.reset_policies;

    auto dm = policies.base();
    dm.mode = ResetMode::idle;
    dm.idle = 30min;
    dm.name = "session_reset.overrides[1] (platform telegram, chat_type dm)";
    EXPECT_EQ(policies.of({.platform = "telegram", .chat_type = "dm"}), dm);

    auto exact = policies.base();
    exact.mode = ResetMode::none;
    exact.name = "session_reset.overrides[2] (key telegram:42)";
    EXPECT_EQ(policies.of({.platform = "telegram", .chat_type = "dm", .key = "telegram:42"}),
              exact);

    auto cron = policies.base();
    cron.zone = TimeZone::find("Asia/Tokyo").value();
    cron.at = 23h;
    cron.on_reset = OnReset::keep;
    cron.process_max_age = 1h;
    cron.name = "session_reset.overrides[3] (source cron)";
    EXPECT_EQ(policies.of({.source = "cron"}), cron);
    EXPECT_EQ(policies.of({.source = "cli"}), policies.base());
}

TEST(ConfigReset, AnOverrideNamesSessions) {
    EXPECT_THAT(complaints(overrides("    - {mode: daily}\n")),
                ElementsAre("/c:4:7: session_reset.overrides[1]: this override names no sessions; "
                            "write at least one of "
                            "source, platform, chat_type and key"));
    EXPECT_THAT(complaints(overrides("    - {source: , mode: daily}\n")),
                ElementsAre("/c:4:7: session_reset.overrides[1]: this override names no sessions; "
                            "write at least one of "
                            "source, platform, chat_type and key"));
    EXPECT_THAT(
        complaints(overrides("    - {source: '', mode: daily}\n")),
        ElementsAre("/c:4:8: session_reset.overrides[1].source: must not be empty; write it"));
    EXPECT_THAT(complaints(overrides("    - {source: 'a b', mode: daily}\n")),
                ElementsAre("/c:4:8: session_reset.overrides[1].source: no session has this; write "
                            "a word of letters, digits "
                            "and ._- alone"));
    EXPECT_THAT(
        complaints(overrides("    - {key: 42, mode: daily}\n")),
        ElementsAre("/c:4:8: session_reset.overrides[1].key: must be text; put it in quotes"));
    EXPECT_THAT(complaints(overrides("    - telegram\n")),
                ElementsAre("/c:4:7: session_reset.overrides[1]: must be keys with values; write "
                            "them as `key: value`"));
}

TEST(ConfigReset, AnOverrideSetsSomething) {
    EXPECT_THAT(complaints(overrides("    - {source: cli}\n    - {key: a, mode: }\n")),
                ElementsAre("/c:4:7: session_reset.overrides[1]: this override sets nothing; write "
                            "what holds for these "
                            "sessions, as in `mode: idle`, or remove it",
                            "/c:5:7: session_reset.overrides[2]: this override sets nothing; write "
                            "what holds for these "
                            "sessions, as in `mode: idle`, or remove it"));
    // One mistake is told once.
    EXPECT_THAT(
        complaints(overrides("    - {source: cli, mode: weekly}\n")),
        ElementsAre("/c:4:21: session_reset.overrides[1].mode: must be none, idle, daily or "
                    "both; write one of these words"));
}

TEST(ConfigReset, NoTwoOverridesAreForTheSameSessions) {
    EXPECT_THAT(complaints(overrides("    - {platform: a, source: b, mode: daily}\n"
                                     "    - {platform: a, mode: daily}\n"
                                     "    - {source: b, platform: a, mode: idle}\n")),
                ElementsAre("/c:6:7: session_reset.overrides[3]: the override in line 4 is for the "
                            "same sessions; make one of "
                            "both"));
    // What of the second could not be read may have told them apart.
    EXPECT_THAT(
        complaints(overrides("    - {platform: a, mode: daily}\n"
                             "    - {platform: a, source: 5, mode: daily}\n")),
        ElementsAre("/c:5:21: session_reset.overrides[2].source: must be text; put it in quotes"));
}

TEST(ConfigReset, IsShownWithItsOverrides) {
    const auto config = parsed(overrides("    - {chat_type: dm, at: 6}\n"));
    std::vector<std::string> shown;
    for (const auto& setting : config.settings) {
        if (!setting.path.starts_with("session_reset.")) continue;
        shown.push_back(setting.path + " " + shown_value(*setting.key, setting.value));
    }
    EXPECT_THAT(shown,
                ElementsAre("session_reset.mode idle", "session_reset.idle_minutes 1440",
                            "session_reset.at 04:00", "session_reset.time_zone local",
                            "session_reset.process_max_age 1d", "session_reset.on_reset warn",
                            "session_reset.overrides chat_type dm",
                            "session_reset.overrides[chat_type dm].chat_type dm",
                            "session_reset.overrides[chat_type dm].at 06:00"));
}

TEST(ConfigReset, AReloadSaysWhatChanged) {
    const auto changes = [](const std::string& before, const std::string& after) {
        return config_changes(parsed(before).settings, parsed(after).settings);
    };
    EXPECT_THAT(changes(section("at: 6"), section("at: '06:00'")), IsEmpty());
    EXPECT_THAT(changes("", section("mode: daily, at: 6")),
                ElementsAre("session_reset.mode none -> daily", "session_reset.at 04:00 -> 06:00"));
    EXPECT_THAT(changes(overrides("    - {chat_type: dm, at: 6}\n    - {key: a, mode: none}\n"),
                        overrides("    - {key: b, mode: none}\n    - {chat_type: dm, at: 7}\n")),
                ElementsAre("override key b added",
                            "session_reset.overrides[chat_type dm].at 06:00 -> 07:00",
                            "override key a removed"));
}

}  // namespace
}  // namespace knell
