#include "config/config_template.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/keys.hpp"

namespace knell {
namespace {

using ::testing::IsEmpty;

std::string without_first_mark(const std::string& text) {
    std::string bare;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        bare += (line.starts_with('#') ? line.substr(1) : line) + "\n";
    }
    return bare;
}

std::vector<std::string> complaints(const std::string& text) {
    std::vector<std::string> texts;
    const auto config = parse_config(text, "/c", "/home/ann");
    if (config) return texts;
    for (const auto& problem : config.error()) texts.push_back(to_text(problem));
    return texts;
}

TEST(ConfigTemplate, ChangesNothing) {
    const auto config = parse_config(config_template(), "/c", "/home/ann");

    ASSERT_TRUE(config);
    for (const auto& setting : config->settings) EXPECT_FALSE(setting.place) << setting.path;
}

TEST(ConfigTemplate, WithoutItsMarksSetsEveryKeyToItsDefault) {
    const auto text = without_first_mark(config_template());
    ASSERT_THAT(complaints(text), IsEmpty()) << text;

    const auto config = parse_config(text, "/c", "/home/ann");

    EXPECT_EQ(config->events, Retention{});
    ASSERT_EQ(config->webhooks.size(), 1U);
    for (const auto& setting : config->settings) {
        EXPECT_TRUE(setting.place) << setting.path;
        const auto standard = default_value(*setting.key);
        if (!standard || setting.key->type == KeyType::items) continue;
        EXPECT_EQ(shown_value(*setting.key, setting.value), shown_value(*setting.key, *standard));
    }
}

TEST(ConfigTemplate, NamesEveryKeyAndIsNarrow) {
    const auto text = config_template();
    for (const auto& key : config_keys.keys) {
        if (key.path.contains("secrets[]")) continue;  // told of in the row of the list
        EXPECT_TRUE(text.contains(std::string(key.name()) + ":")) << key.path;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 90U) << line;
}

}  // namespace
}  // namespace knell
