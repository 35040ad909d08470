#include "foreign/hermes/config_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foreign/hermes/api_key.hpp"
#include "foreign/hermes/config_keys.hpp"

namespace knell::hermes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto strong = "3f9c1d0b7a5e4c2f8b6d9e0a1c3f5b7d";

HermesEnvironment beside(std::string_view text) {
    return {.file = "/h/.env", .lines = parse_env_file(text), .api_server_key = {}};
}

std::vector<std::string> said(std::string_view text,
                              const std::optional<HermesEnvironment>& environment = beside("")) {
    std::vector<std::string> lines;
    for (const auto& problem : check_hermes_config(text, "/h/config.yaml", environment)) {
        lines.push_back(to_text(problem));
    }
    return lines;
}

TEST(HermesConfig, ThatIsRightIsLeftAlone) {
    for (const auto* text : {
             "",
             "# nothing yet\n",
             "model: anthropic/claude\nfallback_providers: []\nfallback_model:\n",
             "fallback_providers:\n"
             "  - {provider: openrouter, model: a/b}\n"
             "  - {provider: custom, model: c, base_url: 'http://localhost:8000/v1', key_env: K}\n"
             "  - {provider: custom, model: d, base_url: '${BASE_URL}', api_key: '${KEY}'}\n"
             "  - {provider: x, model: y, api_mode: chat, timeout: 30}\n",
             "fallback_model: {provider: openrouter, model: a/b}\n",
             "fallback_model: {provider: '', model: ''}\n",
             "fallback_model: [{provider: a, model: b}, {provider: c, model: d}]\n",
             "session_reset: {mode: both, at_hour: 4, idle_minutes: 1440, notify: yes,\n"
             "  notify_exclude_platforms: [api_server, webhook], bg_process_max_age_hours: 24}\n",
             "session_reset: {mode: daily}\n",
             "session_reset: {mode: none, idle_minutes: ~, at_hour: }\n",
             "sessions: {auto_prune: on, retention_days: 90, min_interval_hours: 0.5,\n"
             "  fts_optimize_notice: off, max_resume_messages: 20_000}\n",
             "gateway: {reset_by_type: {dm: {mode: idle, idle_minutes: 60}}}\n",
             "x-defaults: &defaults {mode: idle}\nsession_reset: {<<: *defaults, idle_minutes: "
             "5}\n",
             "telegram: {allowed: {123: yes}}\nplatforms: {telegram: {enabled: true}}\n",
             "platforms: {api_server: {enabled: false}}\n",
         }) {
        EXPECT_THAT(said(text), IsEmpty()) << text;
    }
}

TEST(HermesConfig, EveryRootKeyThatHermesHasIsKnown) {
    for (const auto key : hermes_root_keys) {
        const auto lines = said(std::string(key) + ":\n");
        EXPECT_THAT(lines, IsEmpty()) << key;
    }
}

TEST(HermesConfig, AliasesAreFollowedToWhatTheyStandFor) {
    EXPECT_THAT(said("x-a: &a {provider: p}\nfallback_providers: [*a]\n"),
                ElementsAre(HasSubstr("fallback_providers[1].model: is missing")));
    EXPECT_THAT(said("model: *nothing\n"), ElementsAre(HasSubstr("/h/config.yaml:1:")));
}

TEST(HermesConfig, AliasesOfAliasesAreBounded) {
    std::string text = "x-0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
    for (int i = 1; i < 12; ++i) {
        const auto before = "*a" + std::to_string(i - 1);
        text += "x-" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int more = 0; more < 8; ++more) text += ", " + before;
        text += "]\n";
    }
    EXPECT_THAT(said(text), ElementsAre(HasSubstr("more than 20000 keys and values")));
}

TEST(HermesConfig, AnApiServerNeedsAStrongKey) {
    constexpr auto on = "platforms: {api_server: {enabled: true}}\n";

    EXPECT_THAT(said(on), ElementsAre(HasSubstr("platforms.api_server.enabled: the API server is "
                                                "on and has no API_SERVER_KEY; put one into "
                                                "/h/.env")));
    EXPECT_THAT(said(on, beside(std::string("export API_SERVER_KEY='") + strong + "' # mine\n")),
                IsEmpty());
    EXPECT_THAT(said("", beside("A=1\nAPI_SERVER_ENABLED=true\n")),
                ElementsAre(HasSubstr("/h/.env:2:1: API_SERVER_ENABLED: the API server is on")));
    const auto weak = said(on, beside("API_SERVER_KEY=hunter2\n"));
    EXPECT_THAT(weak, ElementsAre(HasSubstr("/h/.env:1:1: API_SERVER_KEY: is a weak")));
    EXPECT_THAT(weak, ElementsAre(Not(HasSubstr("hunter2"))));
}

TEST(HermesConfig, AWeakKeyOfNoServerIsAWarning) {
    const auto found = check_hermes_config("", "/h/config.yaml", beside("API_SERVER_KEY=short\n"));

    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].level, ProblemLevel::warning);
}

TEST(HermesConfig, AKeyThatMayBeElsewhereIsNotMissed) {
    constexpr auto on = "platforms: {api_server: {enabled: true}}\n";
    EXPECT_THAT(said(on, std::nullopt), IsEmpty());
    EXPECT_THAT(said("platforms: {api_server: {enabled: true, extra: {key: '${KEY}'}}}\n"),
                IsEmpty());
    auto with_key = beside("");
    with_key.api_server_key = strong;
    EXPECT_THAT(said(on, with_key), IsEmpty());
}

TEST(HermesConfig, WeakIsWhatIsShortUniformOrFromAnExample) {
    for (const auto* key : {"", "short", "aaaaaaaaaaaaaaaaaaaaaaaa", "1212121212121212121212",
                            "change-me-change-me-1234", "YOUR_API_KEY_HERE_1234"}) {
        EXPECT_TRUE(why_weak(key)) << key;
    }
    EXPECT_FALSE(why_weak(strong));
}

}  // namespace
}  // namespace knell::hermes
