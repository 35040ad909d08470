#include "config/config_gateways.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/webhook_url_check.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> complaints(std::string_view text) {
    std::vector<std::string> texts;
    const auto config = parse_config(text, "/c", "/home/ann");
    EXPECT_FALSE(config);
    if (config) return texts;
    for (const auto& problem : config.error()) texts.push_back(to_text(problem));
    return texts;
}

TEST(ConfigGateways, AreNamedWithTheirTokensBesideTheConfig) {
    const auto config = parse_config(
        "space:\n  gateways:\n    - {name: mac, url: 'https://mac.example:7717', token_file: t}\n"
        "    - name: pi\n      url: http://127.0.0.1:7718\n      token_file: ~/pi.token\n"
        "      allow_internal: true\n",
        "/etc/knell/config.yaml", "/home/ann");

    ASSERT_TRUE(config);
    EXPECT_THAT(config->gateways, ElementsAre(GatewaySpec{.name = "mac",
                                                          .url = "https://mac.example:7717",
                                                          .token_file = "/etc/knell/t"},
                                              GatewaySpec{.name = "pi",
                                                          .url = "http://127.0.0.1:7718",
                                                          .token_file = "/home/ann/pi.token",
                                                          .allow_internal = true}));
    std::vector<std::string> paths;
    for (const auto& setting : config->settings) {
        if (setting.path.starts_with("space.")) paths.push_back(setting.path);
    }
    EXPECT_THAT(paths,
                ElementsAre("space.gateways", "space.gateways[mac].name", "space.gateways[mac].url",
                            "space.gateways[mac].token_file", "space.gateways[mac].allow_internal",
                            "space.gateways[pi].name", "space.gateways[pi].url",
                            "space.gateways[pi].token_file", "space.gateways[pi].allow_internal"));
}

TEST(ConfigGateways, WithoutAWordAreNone) {
    for (const auto* text : {"", "space:\n", "space: {gateways: []}\n"}) {
        const auto config = parse_config(text, "/c", "/home/ann");
        ASSERT_TRUE(config) << text;
        EXPECT_THAT(config->gateways, IsEmpty()) << text;
    }
}

TEST(ConfigGateways, NeedANameAnAddressAndAToken) {
    EXPECT_THAT(complaints("space: {gateways: [{name: mac}]}\n"),
                ElementsAre(HasSubstr("url: is missing"), HasSubstr("token_file: is missing")));
    EXPECT_THAT(complaints("space:\n  gateways:\n    - {name: a, url: 'https://a', token_file: t}\n"
                           "    - {name: a, url: 'https://b', token_file: t}\n"),
                ElementsAre(HasSubstr("another gateway has this name")));
    EXPECT_THAT(complaints("space: {gateways: [x]}\n"), ElementsAre(HasSubstr("/c:1:")));
}

TEST(ConfigGateways, AnAddressIsOnlyWhereTheGatewayIs) {
    EXPECT_FALSE(why_not_a_gateway_url("https://mac.example:7717"));
    EXPECT_FALSE(why_not_a_gateway_url("http://localhost:7717/behind/a/proxy"));
    EXPECT_TRUE(why_not_a_gateway_url("http://mac.example"));
    EXPECT_TRUE(why_not_a_gateway_url("https://mac.example/?token=x"));
    EXPECT_THAT(why_not_a_gateway_url("https://ann:secret@mac.example").value_or(""),
                ::testing::AllOf(HasSubstr("token"), ::testing::Not(HasSubstr("secret@"))));
}

}  // namespace
}  // namespace knell
