#include "config/keys.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/setting.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;

TEST(Keys, StandOnceEach) {
    std::set<std::string_view> paths;
    for (const auto& key : config_keys.keys) EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    for (const auto& key : config_keys.refused) {
        EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    }
}

TEST(Keys, SayWhatTheyAreInOneSentence) {
    for (const auto& key : config_keys.keys) {
        EXPECT_FALSE(key.about.empty()) << key.path;
        EXPECT_FALSE(key.about.ends_with('.')) << key.path;
        EXPECT_FALSE(key.about.contains('\n')) << key.path;
    }
}

TEST(Keys, ThatAreNotOptionalHaveAnExampleInsteadOfADefault) {
    for (const auto& key : config_keys.keys) {
        if (key.type == KeyType::items) continue;
        EXPECT_EQ(key.presence == Presence::optional, !key.fallback.empty()) << key.path;
        EXPECT_EQ(key.presence == Presence::optional, key.example.empty()) << key.path;
    }
}

TEST(Keys, HaveADefaultWithinTheirBounds) {
    for (const auto& key : config_keys.keys) {
        const auto value = default_value(key);
        if (!value) continue;
        if (const auto* number = std::get_if<std::int64_t>(&*value)) {
            EXPECT_GE(*number, key.min) << key.path;
            EXPECT_LE(*number, key.max) << key.path;
        } else if (const auto* duration = std::get_if<std::chrono::seconds>(&*value)) {
            EXPECT_GE(duration->count(), key.min) << key.path;
            EXPECT_LE(duration->count(), key.max) << key.path;
        }
    }
}

/// A section is a map, or a key of its own; a list of maps has a row for itself.
TEST(Keys, BelongToOneKindOfSection) {
    for (const auto& key : config_keys.keys) {
        auto section = key.section();
        if (section.empty()) continue;
        section.remove_suffix(1);
        const bool is_item = section.ends_with("[]");
        if (is_item) section.remove_suffix(2);
        const auto* outer = config_keys.find(section);
        EXPECT_EQ(outer != nullptr, is_item) << key.path;
        if (outer != nullptr) {
            EXPECT_EQ(outer->type, KeyType::items) << key.path;
        }
    }
}

TEST(Keys, AreNamedBySection) {
    EXPECT_THAT(config_keys.names_in(""), ElementsAre("events", "webhooks"));
    EXPECT_THAT(config_keys.names_in("events."), ElementsAre("keep_days", "keep_count"));
    EXPECT_THAT(config_keys.names_in("webhooks[].secrets[]."), ElementsAre("file", "env"));
}

TEST(Keys, TellWhatTheyTake) {
    EXPECT_EQ(describe_values(*config_keys.find("events.keep_days")), "whole days, 1 to 36500");
    EXPECT_EQ(describe_values(*config_keys.find("webhooks[].timeout")), "1s to 1m");
    EXPECT_EQ(describe_values(*config_keys.find("webhooks[].concurrency")), "1 to 16");
    EXPECT_EQ(config_keys.find("events"), nullptr);
}

}  // namespace
}  // namespace knell
