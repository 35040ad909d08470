#include "daemon/subscriber_config.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;

class SubscriberConfigTrial : public ::testing::Test {
  protected:
    SubscriberConfigTrial() {
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
    std::size_t reload() {
        return subscriber_config_.reload(config_.reload(), paths_.hooks_dir).size();
    }
    std::string names() const {
        std::string text;
        for (const auto& spec : subscriber_config_.specs()) text += spec.name + " ";
        return text;
    }

    const testing::TempFolder temp_;
    Paths paths_;
    ConfigHolder config_{temp_.path() + "/config.yaml"};
    SubscriberConfig subscriber_config_;
};

TEST_F(SubscriberConfigTrial, HooksAndWebhooksHearWhatTheyAskedFor) {
    add_hook("ops", "events: [session:start]\nconcurrency: 3\n");
    add_webhook("team");
    EXPECT_EQ(reload(), 0U);
    ASSERT_EQ(names(), "ops team ");
    EXPECT_EQ(subscriber_config_.specs()[0].concurrency, 3U);
    EXPECT_TRUE(subscriber_config_.specs()[0].events.wants(EventType::session_start));
    EXPECT_FALSE(subscriber_config_.specs()[1].events.wants(EventType::session_start));
    EXPECT_NE(subscriber_config_.hook("ops"), nullptr);
    EXPECT_EQ(subscriber_config_.webhook("ops"), nullptr);
    EXPECT_EQ(subscriber_config_.hook("team"), nullptr);
    ASSERT_NE(subscriber_config_.webhook("team"), nullptr);
    EXPECT_EQ(subscriber_config_.webhook("team")->url, "https://example.com/");
}

TEST_F(SubscriberConfigTrial, AProblemIsToldOnceWhileItStays) {
    add_hook("bad", "events: [\n");
    EXPECT_EQ(reload(), 1U);
    EXPECT_EQ(reload(), 0U);
    EXPECT_EQ(subscriber_config_.problems().size(), 1U);
    add_hook("worse", "events: {\n");
    EXPECT_EQ(reload(), 1U) << "only the new one";
    fs::remove_all(paths_.hooks_dir);
    EXPECT_EQ(reload(), 0U);
    EXPECT_TRUE(subscriber_config_.problems().empty());
    add_hook("bad", "events: [\n");
    EXPECT_EQ(reload(), 1U) << "again";
}

TEST_F(SubscriberConfigTrial, AConfigThatCannotBeReadLeavesTheWebhooksAsTheyWere) {
    add_webhook("team");
    ASSERT_EQ(reload(), 0U);
    write_config("webhooks: [\n");
    EXPECT_GE(reload(), 1U);
    EXPECT_EQ(subscriber_config_.problems().front().name, "config.yaml");
    EXPECT_EQ(names(), "team ");
    write_config("");
    EXPECT_EQ(reload(), 0U);
    EXPECT_EQ(names(), "");
}

TEST_F(SubscriberConfigTrial, TwoOfOneNameAreNotBothHeard) {
    add_webhook("ops");
    add_hook("ops", "events: [session:end]\n");
    add_hook("other", "events: [session:end]\n");
    EXPECT_EQ(reload(), 1U);
    EXPECT_EQ(names(), "other ops ");
    EXPECT_EQ(subscriber_config_.hook("ops"), nullptr);
    EXPECT_NE(subscriber_config_.webhook("ops"), nullptr);
    EXPECT_NE(subscriber_config_.problems()[0].message.find("is called ops already"),
              std::string::npos);
}

TEST_F(SubscriberConfigTrial, OneThatWasTakenAwayIsGone) {
    add_hook("ops", "events: [session:end]\n");
    reload();
    fs::remove_all(paths_.hooks_dir + "/ops");
    reload();
    EXPECT_EQ(names(), "");
}

}  // namespace
}  // namespace knell
