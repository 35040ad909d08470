#include "config/config_changes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> changes(const std::string& before, const std::string& after) {
    const auto settings = [](const std::string& text) {
        return parse_config(text, "/k/config.yaml", "/home/ann").value().settings;
    };
    return config_changes(settings(before), settings(after));
}

std::string webhook(const std::string& name, const std::string& more = "") {
    return fmt::format("  - name: {}\n    url: https://example.org/T0K3N\n    secret_env: S\n{}",
                       name, more);
}

TEST(ConfigChanges, NameEachKeyThatHoldsOtherwise) {
    EXPECT_THAT(changes("", "events: {keep_days: 7, keep_count: 5}\n"),
                ElementsAre("events.keep_days 30 -> 7", "events.keep_count 10000000 -> 5"));
    EXPECT_THAT(changes("events: {keep_days: 7}\n", ""), ElementsAre("events.keep_days 7 -> 30"));
}

TEST(ConfigChanges, AreNoneWhereOnlyTheTextDiffers) {
    EXPECT_THAT(changes("", "# words\nevents: {keep_days: 30d}\n"), IsEmpty());
    EXPECT_THAT(changes("webhooks:\n" + webhook("a") + webhook("b", "    timeout: 60\n"),
                        "webhooks:\n" + webhook("b", "    timeout: 1m\n") + webhook("a")),
                IsEmpty());
}

TEST(ConfigChanges, AnItemComesAndGoesAsAWhole) {
    EXPECT_THAT(changes("webhooks:\n" + webhook("ops"), "webhooks:\n" + webhook("team")),
                ElementsAre("webhook team added", "webhook ops removed"));
}

TEST(ConfigChanges, OfAnItemAreNamedWithIt) {
    EXPECT_THAT(
        changes("webhooks:\n" + webhook("ops", "    events: notice\n"),
                "webhooks:\n" + webhook("ops", "    timeout: 30\n")),
        ElementsAre("webhooks[ops].events notice -> *", "webhooks[ops].timeout 15s -> 30s"));
    EXPECT_THAT(
        changes("webhooks:\n" + webhook("ops"),
                "webhooks:\n  - name: ops\n    url: https://example.org/T0K3N\n"
                "    secret_file: s\n"),
        ElementsAre("webhooks[ops].secret_file set to /k/s", "webhooks[ops].secret_env removed"));
}

TEST(ConfigChanges, NeverTellWhatMayBeAToken) {
    EXPECT_THAT(changes("webhooks:\n" + webhook("ops"),
                        "webhooks:\n  - name: ops\n    url: https://example.org/0TH3R\n"
                        "    secret_env: S\n"),
                ElementsAre("webhooks[ops].url changed"));
}

TEST(ConfigChanges, AreBounded) {
    std::string many = "webhooks:\n";
    for (int i = 0; i < 100; ++i) many += webhook(fmt::format("w{}", i));

    const auto told = changes("", many);

    ASSERT_EQ(told.size(), 21U);
    EXPECT_EQ(told.back(), "and 80 more");
}

}  // namespace
}  // namespace knell
