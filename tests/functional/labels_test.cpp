// What a person writes on a session: its title, and that it is to be kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Labels : public WithDaemon {
  protected:
    Json write_on(std::string_view method, std::string_view params) {
        return client.must(method, params);
    }
};

TEST_F(Labels, ATitleIsShownAndToldAndSurvivesARestart) {
    create(R"({"id":"s","source":"cli"})");

    const auto set = write_on("session.title", R"({"session_id":"s","title":"Grüße"})");
    EXPECT_TRUE(at(set, "changed").as_bool());
    EXPECT_EQ(text(set, "title"), "Grüße");
    const auto again = write_on("session.title", R"({"session_id":"s","title":"Grüße"})");
    EXPECT_FALSE(at(again, "changed").as_bool());

    daemon.kill9();
    daemon.restart();
    client = Client(home.socket());
    EXPECT_EQ(text(show("s"), "title"), "Grüße");
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:update 1"));
    EXPECT_EQ(text(session_events(client).back(), "title"), "Grüße");
}

TEST_F(Labels, AnEndedSessionCanBeWrittenOnToo) {
    create(R"({"id":"s","source":"cli","title":"before"})");
    client.must("session.close", R"({"session_id":"s"})");

    write_on("session.title", R"({"session_id":"s","title":""})");

    EXPECT_EQ(text(show("s"), "title"), "");
    EXPECT_EQ(text(show("s"), "status"), "ended");
    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "session:end 1", "session:update 1"));
}

TEST_F(Labels, APinIsShownAndToldAndTakenBack) {
    create(R"({"id":"s","source":"cli","title":"t"})");

    EXPECT_TRUE(at(write_on("session.pin", R"({"session_id":"s"})"), "changed").as_bool());
    EXPECT_FALSE(at(write_on("session.pin", R"({"session_id":"s"})"), "changed").as_bool());
    EXPECT_TRUE(at(show("s"), "pinned").as_bool());
    EXPECT_TRUE(at(session_events(client).back(), "pinned").as_bool());
    EXPECT_EQ(text(session_events(client).back(), "title"), "t");
    EXPECT_EQ(home.knell({"unpin", "s", "nobody"}).status, 1) << "nobody is not there";

    EXPECT_FALSE(at(show("s"), "pinned").as_bool());
    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "session:update 1", "session:update 1"));
}

TEST_F(Labels, WhatCannotBeWrittenIsNamed) {
    create(R"({"id":"s","source":"cli"})");
    const auto refused = [&](std::string_view params) {
        return client.call("session.title", params);
    };
    EXPECT_EQ(refused(R"({"session_id":"s"})").field(), "title");
    EXPECT_EQ(refused(R"({"session_id":"s","title":"a\u0007b"})").field(), "title");
    EXPECT_EQ(refused(R"({"session_id":"nobody","title":"x"})").kind(), "not_found");
}

}  // namespace
}  // namespace knell::functional
