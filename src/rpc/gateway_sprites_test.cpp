#include "rpc/gateway_sprites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GatewayReport gateway(const std::string& name, const std::string& node,
                      const std::vector<std::string>& ids) {
    std::vector<JsonObject> sessions;
    for (const auto& id : ids) sessions.push_back({{"id", id}, {"node", node}});
    return {.name = name,
            .is_reachable = true,
            .sessions = std::make_shared<const std::vector<JsonObject>>(std::move(sessions))};
}

/// "mac/a@n2", and "?" behind one that is stale.
std::vector<std::string> told(const std::vector<GatewayReport>& gateways) {
    std::vector<std::string> told;
    for (const auto& sprite : gateway_sprites("n1", gateways, limits::space_bytes_max).sprites) {
        const auto& key = sprite.key;
        const auto facts = wire::parse_json(sprite.text)->as_object();
        EXPECT_EQ(key.substr(0, key.find('/')), std::string(wire::text_at(facts, "gateway")));
        told.push_back(key + "@" + std::string(wire::text_at(facts, "node")) +
                       (wire::bool_at(facts, "stale") ? "?" : ""));
    }
    return told;
}

TEST(GatewaySprites, AreThoseOfTheOthersByName) {
    EXPECT_THAT(told({gateway("mac", "n2", {"a", "c"}), gateway("pi", "n3", {"a"})}),
                ElementsAre("mac/a@n2", "mac/c@n2", "pi/a@n3"));
}

TEST(GatewaySprites, OfASilentGatewayStayAndAreStale) {
    auto silent = gateway("mac", "n2", {"c"});
    silent.is_reachable = false;
    EXPECT_THAT(told({silent, gateway("pi", "n3", {"d"})}), ElementsAre("mac/c@n2?", "pi/d@n3"));
}

TEST(GatewaySprites, OfAGatewayThatWasNeverHeardAreNone) {
    EXPECT_THAT(told({GatewayReport{.name = "mac"}}), IsEmpty());
}

TEST(GatewaySprites, AreToldOnceIfTwoNamesLeadToOneNode) {
    EXPECT_THAT(told({gateway("me", "n1", {"a"}), gateway("mac", "n2", {"c"}),
                      gateway("mac2", "n2", {"c", "d"})}),
                ElementsAre("mac/c@n2", "mac2/d@n2"));
}

TEST(GatewaySprites, EndWhereThereIsNoMoreRoom) {
    auto many = gateway("mac", "n2", {});
    std::vector<JsonObject> sessions;
    for (std::size_t i = 0; i < 100; ++i) {
        sessions.push_back({{"id", std::to_string(i)},
                            {"node", "n2"},
                            {"title", std::string(limits::space_bytes_max / 50, 't')}});
    }
    many.sessions = std::make_shared<const std::vector<JsonObject>>(std::move(sessions));

    const auto all = gateway_sprites("n1", {many}, limits::space_bytes_max);

    EXPECT_TRUE(all.is_truncated);
    EXPECT_EQ(all.sprites.size(), 49U);
}

}  // namespace
}  // namespace knell::rpc
