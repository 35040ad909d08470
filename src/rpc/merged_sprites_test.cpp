#include "rpc/merged_sprites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell::rpc {
namespace {

using ::testing::ElementsAre;

GatewayReport gateway(const std::string& name, const std::string& node,
                      const std::vector<std::string>& ids) {
    std::vector<JsonObject> sessions;
    for (const auto& id : ids) sessions.push_back({{"id", id}, {"node", node}});
    return {.name = name,
            .is_reachable = true,
            .sessions = std::make_shared<const std::vector<JsonObject>>(std::move(sessions))};
}

/// "mac/a@n2", and "?" behind one that is stale.
std::vector<std::string> merged(const std::vector<std::string>& own,
                                const std::vector<GatewayReport>& gateways) {
    std::deque<Sprite> sprites;
    for (const auto& id : own) sprites.push_back(make_sprite(id, {{"id", id}, {"node", "n1"}}));
    std::vector<std::string> told;
    const auto all = merged_sprites(sprites, "n1", gateways);
    for (const auto& sprite : all.sprites) {
        const auto& key = sprite.key;
        const auto& facts = sprite.facts;
        const auto name = wire::text_at(facts, "gateway");
        EXPECT_EQ(key.substr(0, key.find('/')), name.empty() ? key : std::string(name));
        told.push_back(key + "@" + std::string(wire::text_at(facts, "node")) +
                       (wire::bool_at(facts, "stale") ? "?" : ""));
    }
    return told;
}

TEST(MergedSprites, AreOursAndThoseOfTheOthersByName) {
    EXPECT_THAT(merged({"a", "b"}, {gateway("mac", "n2", {"a", "c"}), gateway("pi", "n3", {"a"})}),
                ElementsAre("a@n1", "b@n1", "mac/a@n2", "mac/c@n2", "pi/a@n3"));
}

TEST(MergedSprites, OfASilentGatewayStayAndAreStale) {
    auto silent = gateway("mac", "n2", {"c"});
    silent.is_reachable = false;
    EXPECT_THAT(merged({"a"}, {silent, gateway("pi", "n3", {"d"})}),
                ElementsAre("a@n1", "mac/c@n2?", "pi/d@n3"));
}

TEST(MergedSprites, OfAGatewayThatWasNeverHeardAreNone) {
    EXPECT_THAT(merged({"a"}, {GatewayReport{.name = "mac"}}), ElementsAre("a@n1"));
}

TEST(MergedSprites, AreToldOnceIfTwoNamesLeadToOneNode) {
    EXPECT_THAT(merged({"a"}, {gateway("me", "n1", {"a"}), gateway("mac", "n2", {"c"}),
                               gateway("mac2", "n2", {"c", "d"})}),
                ElementsAre("a@n1", "mac/c@n2", "mac2/d@n2"));
}

TEST(MergedSprites, EndWhereAnAnswerDoes) {
    auto many = gateway("mac", "n2", {});
    std::vector<JsonObject> sessions;
    for (std::size_t i = 0; i < 100; ++i) {
        sessions.push_back({{"id", std::to_string(i)},
                            {"node", "n2"},
                            {"title", std::string(limits::space_bytes_max / 50, 't')}});
    }
    many.sessions = std::make_shared<const std::vector<JsonObject>>(std::move(sessions));

    const auto all = merged_sprites({}, "n1", {many});

    EXPECT_TRUE(all.is_truncated);
    EXPECT_EQ(all.sprites.size(), 49U);
}

}  // namespace
}  // namespace knell::rpc
