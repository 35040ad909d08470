#include "config/setting.hpp"

#include <gtest/gtest.h>

#include "config/keys.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

const Key& key(std::string_view path) {
    return *config_keys.find(path);
}

TEST(Setting, IsShownAsItWouldBeWritten) {
    EXPECT_EQ(shown_value(key("events.keep_count"), std::int64_t{5}), "5");
    EXPECT_EQ(shown_value(key("events.keep_days"), std::chrono::seconds{std::chrono::days{7}}),
              "7");
    EXPECT_EQ(shown_value(key("webhooks[].timeout"), std::chrono::seconds{60}), "1m");
    EXPECT_EQ(shown_value(key("webhooks[].allow_internal"), true), "true");
    EXPECT_EQ(shown_value(key("webhooks[].events"), std::vector<std::string>{"notice", "agent:*"}),
              "notice, agent:*");
    EXPECT_EQ(shown_value(key("webhooks"), std::vector<std::string>{}), "none");
}

TEST(Setting, OfAnAddressOnlyTheHostIsShown) {
    const auto shown = [](std::string url) { return shown_value(key("webhooks[].url"), url); };
    EXPECT_EQ(shown("https://example.org"), "https://example.org");
    EXPECT_EQ(shown("https://example.org/"), "https://example.org/");
    EXPECT_EQ(shown("https://example.org/services/T0K3N"), "https://example.org/...");
    EXPECT_EQ(shown("https://example.org?key=T0K3N"), "https://example.org/...");
    EXPECT_EQ(shown("http://[::1]:80/a"), "http://[::1]:80/...");
    EXPECT_EQ(shown("T0K3N"), "...");
}

TEST(Setting, IsForProgramsWhatItIs) {
    const auto json = [](std::string_view path, const Value& value) {
        return wire::to_text(json_value(key(path), value));
    };
    EXPECT_EQ(json("events.keep_count", std::int64_t{5}), "5");
    EXPECT_EQ(json("events.keep_days", std::chrono::seconds{48h}), "2");
    EXPECT_EQ(json("webhooks[].timeout", 15s), R"("15s")");
    EXPECT_EQ(json("webhooks[].allow_internal", false), "false");
    EXPECT_EQ(json("webhooks[].events", std::vector<std::string>{"*"}), R"(["*"])");
    EXPECT_EQ(json("webhooks[].url", std::string("https://a/b")), R"("https://a/...")");
}

}  // namespace
}  // namespace knell
