#include "config/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/key_rows.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;

TEST(Keys, KeepTheRulesOfRows) {
    knell::testing::check_key_rows(config_keys);
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
    EXPECT_THAT(config_keys.names_in(""),
                ElementsAre("events", "http", "processes", "webhooks", "space", "session_reset",
                            "guard", "summarizer"));
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
