#include "daemon/roster.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;

class RosterTrial : public ::testing::Test {
  protected:
    RosterTrial() {
        paths_.config_file = temp_.path() + "/config.yaml";
        paths_.hooks_dir = temp_.path() + "/hooks";
    }
    void add_hook(const std::string& name, const std::string& manifest) {
        const auto directory = paths_.hooks_dir + "/" + name;
        fs::create_directories(directory);
        std::ofstream(directory + "/HOOK.yaml") << manifest;
        std::ofstream(directory + "/run") << "#!/bin/sh\n";
        ASSERT_EQ(::chmod((directory + "/run").c_str(), 0755), 0);
    }
    void write_config(const std::string& text) { std::ofstream(paths_.config_file) << text; }
    void add_webhook(const std::string& name) {
        write_config("webhooks:\n  - name: " + name +
                     "\n    url: https://example.com/\n    events: [session:end]\n"
                     "    secret_env: KNELL_SECRET\n");
    }
    std::size_t reload() { return roster_.reload(config_.reload(), paths_.hooks_dir).size(); }
    std::string names() const {
        std::string text;
        for (const auto& terms : roster_.terms()) text += terms.name + " ";
        return text;
    }

    const testing::TempFolder temp_;
    Paths paths_;
    ConfigHolder config_{temp_.path() + "/config.yaml"};
    Roster roster_;
};

TEST_F(RosterTrial, HooksAndWebhooksHearWhatTheyAskedFor) {
    add_hook("ops", "events: [session:start]\nconcurrency: 3\n");
    add_webhook("team");
    EXPECT_EQ(reload(), 0U);
    ASSERT_EQ(names(), "ops team ");
    EXPECT_EQ(roster_.terms()[0].concurrency, 3U);
    EXPECT_TRUE(roster_.terms()[0].events.wants(EventType::session_start));
    EXPECT_FALSE(roster_.terms()[1].events.wants(EventType::session_start));
    EXPECT_NE(roster_.hook("ops"), nullptr);
    EXPECT_EQ(roster_.webhook("ops"), nullptr);
    EXPECT_EQ(roster_.hook("team"), nullptr);
    ASSERT_NE(roster_.webhook("team"), nullptr);
    EXPECT_EQ(roster_.webhook("team")->url, "https://example.com/");
}

TEST_F(RosterTrial, AProblemIsToldOnceWhileItStays) {
    add_hook("bad", "events: [\n");
    EXPECT_EQ(reload(), 1U);
    EXPECT_EQ(reload(), 0U);
    EXPECT_EQ(roster_.problems().size(), 1U);
    add_hook("worse", "events: {\n");
    EXPECT_EQ(reload(), 1U) << "only the new one";
    fs::remove_all(paths_.hooks_dir);
    EXPECT_EQ(reload(), 0U);
    EXPECT_TRUE(roster_.problems().empty());
    add_hook("bad", "events: [\n");
    EXPECT_EQ(reload(), 1U) << "again";
}

TEST_F(RosterTrial, AConfigThatCannotBeReadLeavesTheWebhooksAsTheyWere) {
    add_webhook("team");
    ASSERT_EQ(reload(), 0U);
    write_config("webhooks: [\n");
    EXPECT_GE(reload(), 1U);
    EXPECT_EQ(roster_.problems().front().name, "config.yaml");
    EXPECT_EQ(names(), "team ");
    write_config("");
    EXPECT_EQ(reload(), 0U);
    EXPECT_EQ(names(), "");
}

TEST_F(RosterTrial, TwoOfOneNameAreNotBothHeard) {
    add_webhook("ops");
    add_hook("ops", "events: [session:end]\n");
    add_hook("other", "events: [session:end]\n");
    EXPECT_EQ(reload(), 1U);
    EXPECT_EQ(names(), "other ops ");
    EXPECT_EQ(roster_.hook("ops"), nullptr);
    EXPECT_NE(roster_.webhook("ops"), nullptr);
    EXPECT_NE(roster_.problems()[0].message.find("is called ops already"), std::string::npos);
}

TEST_F(RosterTrial, OneThatWasTakenAwayIsGone) {
    add_hook("ops", "events: [session:end]\n");
    reload();
    fs::remove_all(paths_.hooks_dir + "/ops");
    reload();
    EXPECT_EQ(names(), "");
}

}  // namespace
}  // namespace knell
