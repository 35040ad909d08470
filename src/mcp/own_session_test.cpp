#include "mcp/own_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scripted_surroundings.hpp"

namespace knell::mcp {
namespace {

using ::testing::HasSubstr;
using testing::ScriptedSurroundings;

constexpr auto two_sessions = R"({"sessions":[
    {"id":"outer","owner":{"kind":"process","pid":10}},
    {"id":"lease","owner":{"kind":"lease"}},
    {"id":"inner","owner":{"kind":"process","pid":30}}]})";

TEST(OwnSession, IsTheOneTheEnvironmentNames) {
    ScriptedSurroundings world;
    world.session = "named";
    world.above = {30};
    EXPECT_EQ(find_own_session(world), "named");
    EXPECT_TRUE(world.asked.empty());
}

TEST(OwnSession, IsThatOfTheNearestProcessAbove) {
    ScriptedSurroundings world;
    world.above = {40, 30, 20, 10, 1};
    world.answers(two_sessions);
    EXPECT_EQ(find_own_session(world), "inner");

    world.above = {20, 10, 1};
    world.answers(two_sessions);
    EXPECT_EQ(find_own_session(world), "outer");
}

TEST(OwnSession, IsLookedForOnEveryPage) {
    ScriptedSurroundings world;
    world.above = {7};
    world.answers(R"({"sessions":[],"next":"c1"})");
    world.answers(R"({"sessions":[{"id":"s","owner":{"pid":7}}]})");
    EXPECT_EQ(find_own_session(world), "s");
    EXPECT_THAT(world.asked.at(1), HasSubstr(R"("cursor":"c1")"));
}

TEST(OwnSession, IsNotGuessedAmongSeveral) {
    ScriptedSurroundings world;
    world.above = {7};
    world.answers(R"({"sessions":[{"id":"a","owner":{"pid":7}},{"id":"b","owner":{"pid":7}}]})");
    const auto found = find_own_session(world);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::owned);
    EXPECT_THAT(found.error().message, HasSubstr("one of: a, b"));
}

TEST(OwnSession, IsNotAStrangersOne) {
    ScriptedSurroundings world;
    world.above = {99, 1};
    world.answers(two_sessions);
    const auto found = find_own_session(world);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
    EXPECT_THAT(found.error().message, HasSubstr("give session_id"));
}

TEST(OwnSession, IsNotLookedForWherePidsMeanSomethingElse) {
    ScriptedSurroundings world;
    EXPECT_EQ(find_own_session(world).error().code, ErrorCode::not_found);
    EXPECT_TRUE(world.asked.empty());
}

TEST(OwnSession, OfRowsThatHoldAnythingElse) {
    const auto rows =
        wire::parse_json(R"([1,null,{},{"id":"x","owner":3},{"id":"y","owner":{"pid":"7"}},
        {"id":"z","owner":{"pid":-7}}])");
    const std::vector<pid_t> above{7, -7, 0};
    EXPECT_EQ(session_of_nearest(rows->as_array(), above), "");
}

}  // namespace
}  // namespace knell::mcp
