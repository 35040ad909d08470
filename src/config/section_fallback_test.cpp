#include "config/section_fallback.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "core/limits.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// All sections, each other than its default.
constexpr std::string_view whole =
    "events: {keep_days: 7}\n"
    "http: {listen: '127.0.0.1:1', detach_window: 1m}\n"
    "processes: {max: 10, per_session: 5}\n"
    "webhooks:\n"
    "  - {name: a, url: 'https://a.example.org/', secret_env: A}\n"
    "  - {name: b, url: 'https://b.example.org/', secret_env: B}\n"
    "space: {gateways: [{name: g, url: 'https://g.example.org', token_file: t}]}\n"
    "session_reset: {mode: idle, idle_minutes: 5}\n"
    "summarizer: {providers: [{name: near, command: sum}], at_tokens: 5}\n";

Config usable(std::string_view text) {
    return usable_part(text, "/k/config.yaml", "/home/ann").config;
}

/// The whole file with something else in one place.
Config with(std::string_view part, std::string_view instead) {
    std::string text(whole);
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return usable(text.replace(at, part.size(), instead));
}

std::vector<std::string> sections_of(const Config& config) {
    std::vector<std::string> sections;
    for (const auto& fallback : config.fallbacks) sections.push_back(fallback.section);
    return sections;
}

TEST(SectionFallback, AFileThatIsRightHasNone) {
    EXPECT_THAT(usable(whole).fallbacks, IsEmpty());
    EXPECT_THAT(usable("").fallbacks, IsEmpty());
    EXPECT_THAT(usable("session_reset: {mode: daily}\n").fallbacks, IsEmpty())
        << "a warning is no error";
}

TEST(SectionFallback, OneSectionFallsAndTheOthersStand) {
    const auto config = with("mode: idle", "mode: dayly");

    EXPECT_THAT(sections_of(config), ElementsAre("session_reset"));
    EXPECT_FALSE(config.reset_policies->resets_any());
    EXPECT_EQ(config.events.keep_for, std::chrono::days{7});
    EXPECT_EQ(config.http.listen, "127.0.0.1:1");
    EXPECT_THAT(config.webhooks, SizeIs(2));
    EXPECT_THAT(config.gateways, SizeIs(1));
    EXPECT_THAT(config.summarizer.providers, SizeIs(1));
    EXPECT_EQ(config.processes.max, 10U);
}

TEST(SectionFallback, WhatIsRightInASectionInErrorDoesNotHoldEither) {
    const auto config = with("idle_minutes: 5", "idle_minuts: 5");

    EXPECT_EQ(config.session_reset.mode, ResetMode::none);
    EXPECT_FALSE(config.reset_policies->resets_any());
}

TEST(SectionFallback, DoesNoHarm) {
    const auto events = with("keep_days: 7", "keep_days: soon");
    EXPECT_GT(events.events.keep_for, std::chrono::days{36'500});
    EXPECT_GT(events.events.keep_count, std::int64_t{1} << 50U);

    const auto http = with("detach_window: 1m", "detach_windw: 1m");
    EXPECT_EQ(http.http.listen, "off");
    EXPECT_EQ(http.http.detach_window, limits::detach_window_default);
    EXPECT_FALSE(http.http.allow_processes);

    EXPECT_EQ(with("max: 10", "max: 0").processes.max, limits::processes_default);
    EXPECT_THAT(with("token_file: t", "token_fil: t").gateways, IsEmpty());
    EXPECT_EQ(with("at_tokens: 5", "at_tokens: -5").summarizer, SummarizerSettings{});
}

TEST(SectionFallback, OfTheWebhooksOnlyThoseInErrorAreOff) {
    const auto one = with("secret_env: A", "secret_evn: A");
    ASSERT_THAT(one.webhooks, SizeIs(1));
    EXPECT_EQ(one.webhooks[0].name, "b");
    EXPECT_THAT(one.fallbacks, ElementsAre(SectionFallback{"webhooks", "webhook a is off"}));

    EXPECT_THAT(with("name: b", "name: a").webhooks, IsEmpty())
        << "which of them it is nobody knows";
    EXPECT_THAT(with("webhooks:\n  -", "webhooks:\n  - text\n  -").webhooks, SizeIs(2));
    EXPECT_THAT(usable("webhooks: {name: a}\n").webhooks, IsEmpty());
}

TEST(SectionFallback, AKeyAtTheRootThatIsNoneIsTakenForTheNearest) {
    EXPECT_THAT(sections_of(with("http:", "htp:")), ElementsAre("http"));
    EXPECT_THAT(sections_of(usable("keep_days: 3650\n")), ElementsAre("events"));
    EXPECT_THAT(sections_of(usable("mode: idle\n")), ElementsAre("session_reset"));
    EXPECT_THAT(sections_of(usable("logging: {level: debug}\n")), ElementsAre("events"))
        << "what was deleted does not come back";
}

TEST(SectionFallback, OfAFileThatIsNoYamlEverythingFalls) {
    for (const auto* text : {"events: {", "- a\n", "words\n", "\xff"}) {
        const auto config = usable(text);
        EXPECT_THAT(config.fallbacks, SizeIs(8)) << text;
        EXPECT_EQ(config.http.listen, "off") << text;
        EXPECT_FALSE(config.settings.empty()) << text;
    }
}

TEST(SectionFallback, ErrorsThatAreNotNamedAnyMoreCountToo) {
    std::string text = "http:\n";
    for (std::size_t i = 0; i < 2 * limits::file_problems_max; ++i) {
        text += "  key" + std::to_string(i) + ": 1\n";
    }
    text += "session_reset: {mode: idle, idle_minutes: 0}\n";

    const auto read = usable_part(text, "/k/config.yaml", "/home/ann");

    EXPECT_EQ(read.problems.size(), limits::file_problems_max);
    EXPECT_THAT(sections_of(read.config), ElementsAre("http", "session_reset"));
}

TEST(SectionFallback, IsToldWithTheSettings) {
    const auto config = with("secret_env: A", "secret_evn: A");
    for (const auto& setting : config.settings) {
        EXPECT_FALSE(setting.path.starts_with("webhooks[a]")) << setting.path;
    }
    const auto fallen = with("listen: '127.0.0.1:1'", "listen: here");
    for (const auto& setting : fallen.settings) {
        EXPECT_EQ(setting.is_fallback, setting.path.starts_with("http.")) << setting.path;
        EXPECT_EQ(setting.path == "http.listen",
                  setting.is_fallback && shown_value(*setting.key, setting.value) == "off")
            << setting.path;
    }
}

TEST(SectionFallback, TheVariablesOfWebhooksThatAreRightAreStillAskedFor) {
    const auto config = with("mode: idle", "mode: dayly");
    ASSERT_THAT(config.webhooks, SizeIs(2));
    EXPECT_EQ(config.webhooks[0].secrets.front().variable, "A");
}

}  // namespace
}  // namespace knell
