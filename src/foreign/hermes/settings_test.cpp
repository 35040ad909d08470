#include "foreign/hermes/settings.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell::hermes {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(HermesSettings, AreFoundAtTheTopOrUnderTheGateway) {
    const auto top = parse_settings(
        "model: gpt\nsession_reset: {mode: both, idle_minutes: 120, at_hour: 6,"
        " bg_process_max_age_hours: 48}\nsessions: {auto_prune: true, retention_days: 90}\n",
        "config.yaml");
    const auto below = parse_settings("gateway:\n  session_reset:\n    mode: idle\n", "c");

    ASSERT_TRUE(top);
    EXPECT_EQ(top->reset_mode, "both");
    EXPECT_EQ(top->idle_minutes, 120);
    EXPECT_EQ(top->at_hour, 6);
    EXPECT_EQ(top->process_max_age_hours, 48);
    EXPECT_EQ(top->auto_prune, true);
    EXPECT_EQ(top->retention_days, 90);
    EXPECT_THAT(top->remarks, IsEmpty());
    ASSERT_TRUE(below);
    EXPECT_EQ(below->reset_mode, "idle");
}

TEST(HermesSettings, ThatDoWhatNobodyMeansAreRemarkedOn) {
    const auto settings = parse_settings(
        "session_reset: {mode: nightly, idle_minutes: 0, at_hour: 24}\n"
        "sessions: {retention_days: 0}\n",
        "config.yaml");

    ASSERT_TRUE(settings);
    EXPECT_THAT(settings->remarks,
                ElementsAre(HasSubstr("nightly"), HasSubstr("idle_minutes: 0"),
                            HasSubstr("at_hour: 24"), HasSubstr("retention_days: 0")));
}

TEST(HermesSettings, ThatAreNoYamlNameTheirFile) {
    const auto settings = parse_settings("a: [", "/h/config.yaml");

    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error().message, HasSubstr("/h/config.yaml"));
}

TEST(HermesSettings, BoundHowLongAProcessHoldsAResetSinceSchema17) {
    EXPECT_EQ(process_age_max({}, 16), std::nullopt);
    EXPECT_EQ(process_age_max({}, 17), 24h);
    EXPECT_EQ(process_age_max({.process_max_age_hours = 2}, 26), 2h);
}

TEST(HermesHooks, AreListedWithWhatKeepsThemFromRunning) {
    const testing::TempFolder folder;
    const auto write = [&](const std::string& name, const std::string& text) {
        const auto path = std::filesystem::path(folder.path()) / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    };
    write("logger/HOOK.yaml", "name: log\nevents: [session:start, session:end]\n");
    write("logger/handler.py", "");
    write("empty/HOOK.yaml", "events: [session:end]\n");
    write("broken/HOOK.yaml", "events: [\n");
    write("notes/readme.txt", "");

    const auto hooks = read_hook_summaries(folder.path());

    ASSERT_EQ(hooks.size(), 3U);
    EXPECT_EQ(hooks[0].name, "broken");
    EXPECT_THAT(hooks[0].problem, HasSubstr("HOOK.yaml"));
    EXPECT_EQ(hooks[1].problem, "it has no handler.py");
    EXPECT_EQ(hooks[2].name, "log");
    EXPECT_EQ(hooks[2].problem, "");
    EXPECT_THAT(hooks[2].events, ElementsAre("session:start", "session:end"));
    EXPECT_THAT(read_hook_summaries("/nowhere"), IsEmpty());
}

}  // namespace
}  // namespace knell::hermes
