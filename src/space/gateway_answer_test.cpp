#include "space/gateway_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using ::testing::HasSubstr;

const JsonObject good{{"id", "a"},
                      {"node", "n2"},
                      {"source", "cli"},
                      {"generation", 1},
                      {"status", "running"},
                      {"status_since", "2026-11-15T03:52:25.001Z"},
                      {"started_at", "2026-11-15T03:52:25.001Z"},
                      {"last_activity_at", "2026-11-15T03:52:25.001Z"},
                      {"message_count", 3}};

GatewayAnswer read(JsonArray sessions) {
    const auto answer = read_gateway_answer(
        wire::to_text(JsonObject{{"etag", "\"2a\""}, {"sessions", std::move(sessions)}}));
    EXPECT_TRUE(answer);
    return answer.value_or(GatewayAnswer{});
}

JsonObject with(std::string_view name, const Json& value) {
    auto session = good;
    session[name] = value;
    return session;
}

TEST(GatewayAnswer, IsWhatAnotherKnellTells) {
    const auto answer = read({good, with("title", "Billing")});

    EXPECT_EQ(answer.etag, "\"2a\"");
    EXPECT_FALSE(answer.is_truncated);
    ASSERT_EQ(answer.sessions.size(), 2U);
    EXPECT_EQ(answer.sessions[0], good);
    EXPECT_EQ(answer.sessions[1].at("title"), Json("Billing"));
}

TEST(GatewayAnswer, KeepsNothingThatOurRowsDoNotAllow) {
    for (const auto& odd : {with("mood", "good"), with("title", 7), with("title", "two\nlines"),
                            with("title", Json(std::string(2000, 't'))), with("proof", "hearsay"),
                            with("gateway", "me"), with("stale", true),
                            with("ended_at", "yesterday"), with("parent_id", "../etc")}) {
        const auto answer = read({odd});
        ASSERT_EQ(answer.sessions.size(), 1U);
        EXPECT_EQ(answer.sessions[0], good) << wire::to_text(odd);
    }
}

TEST(GatewayAnswer, LeavesOutASessionThatMissesWhatEachHas) {
    for (const auto* name : {"id", "node", "status", "started_at", "message_count"}) {
        auto less = good;
        less.erase(name);
        EXPECT_EQ(read({less, good, with(name, JsonArray{})}).sessions.size(), 1U) << name;
    }
    EXPECT_EQ(read({with("status", "dancing"), 7, nullptr}).sessions.size(), 0U);
}

TEST(GatewayAnswer, IsAPictureOrNothing) {
    for (const auto* body : {"", "<html>", "[]", "{}", R"({"sessions":{}})"}) {
        const auto answer = read_gateway_answer(body);
        ASSERT_FALSE(answer) << body;
        EXPECT_THAT(answer.error().message, HasSubstr("not a picture"));
    }
}

TEST(GatewayAnswer, ATagThatCannotBeSentBackIsNone) {
    for (const auto* etag : {"2a", "\"a\nb\"", "\"", "", "\"a b\""}) {
        const auto answer = read_gateway_answer(
            wire::to_text(JsonObject{{"etag", etag}, {"sessions", JsonArray{}}}));
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->etag, "") << etag;
    }
}

}  // namespace
}  // namespace knell
