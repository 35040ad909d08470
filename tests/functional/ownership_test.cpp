// One writer: resume, takeover, and what becomes of the one who lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto one_message =
    R"({"session_id":"s","generation":1,"messages":[{"role":"user","content":"x"}]})";

class Ownership : public WithDaemon {
  protected:
    void take_over() {
        client.must("session.resume",
                    R"({"session_id":"s","takeover":true,"owner":{"lease_ttl_s":60}})");
    }
};

TEST_F(Ownership, ResumeOpensAnEndedSessionAsTheNextGeneration) {
    create(R"({"id":"s","source":"cli","title":"t"})");
    client.must("session.append", one_message);
    client.must("session.close", R"({"session_id":"s"})");

    const auto opened = client.must("session.resume", R"({"session_id":"s"})");

    EXPECT_EQ(number(opened, "generation"), 2);
    const auto session = show("s");
    EXPECT_EQ(number(session, "generation"), 2);
    EXPECT_EQ(text(session, "status"), "idle");
    EXPECT_TRUE(at(session, "ended_at").is_null());
    EXPECT_TRUE(at(session, "reason").is_null());
    EXPECT_EQ(number(session, "message_count"), 1);
    EXPECT_EQ(text(session, "title"), "t");
    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "session:end 1", "session:start 2"));
}

TEST_F(Ownership, MessagesGoOnCountingOverGenerations) {
    create(R"({"id":"s","source":"cli"})");
    client.must("session.append", one_message);
    client.must("session.close", R"({"session_id":"s"})");
    client.must("session.resume", R"({"session_id":"s"})");

    const auto appended = client.must("session.append", R"({"session_id":"s","generation":2,
        "messages":[{"role":"user","content":"y"}]})");

    EXPECT_EQ(number(appended, "message_count"), 2);
    const auto session = client.must("session.show", R"({"session_id":"s","messages":10})");
    EXPECT_EQ(array(session, "messages").size(), 2U);
}

TEST_F(Ownership, ALiveSessionAnswersWithWhoOwnsIt) {
    create(R"({"id":"s","source":"cli"})");
    client.must("turn.start", R"({"session_id":"s","generation":1})");

    for (const auto& refused : {client.call("session.resume", R"({"session_id":"s"})"),
                                client.call("session.create", R"({"id":"s","source":"cli"})")}) {
        EXPECT_EQ(refused.code(), -32002);
        EXPECT_EQ(refused.kind(), "owned");
        EXPECT_EQ(number(refused.whole, "error.data.owner.pid"), getpid());
        EXPECT_NE(text(refused.whole, "error.data.owner.host"), "");
        EXPECT_NE(text(refused.whole, "error.data.owner.since"), "");
        EXPECT_EQ(number(refused.whole, "error.data.generation"), 1);
        EXPECT_EQ(text(refused.whole, "error.data.status"), "running");
        EXPECT_THAT(refused.message(), HasSubstr("session.resume and takeover: true"));
    }
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "agent:start 1"));
}

TEST_F(Ownership, CreatingAnEndedSessionAgainPointsToResume) {
    create(R"({"id":"s","source":"cli"})");
    client.must("session.close", R"({"session_id":"s"})");

    const auto refused = client.call("session.create", R"({"id":"s","source":"cli"})");

    EXPECT_EQ(refused.code(), -32005);
    EXPECT_EQ(text(refused.whole, "error.data.reason"), "completed");
    EXPECT_THAT(refused.message(), HasSubstr("session.resume"));
}

TEST_F(Ownership, ATakeoverEndsTheOldGenerationFirst) {
    create(R"({"id":"s","source":"cli"})");
    client.must("turn.start", R"({"session_id":"s","generation":1})");

    take_over();

    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "agent:start 1", "agent:end 1", "session:end 1",
                            "session:start 2"));
    const auto ends = client.must("events.read", R"({"types":["session:end"]})");
    EXPECT_EQ(text(ends, "events.0.reason"), "superseded");
    EXPECT_EQ(text(ends, "events.0.proof"), "declared");
    const auto session = show("s");
    EXPECT_EQ(number(session, "generation"), 2);
    EXPECT_EQ(text(session, "status"), "idle");
    EXPECT_EQ(text(session, "owner.kind"), "lease");
}

TEST_F(Ownership, TheOldGenerationIsFencedFromEveryWrite) {
    create(R"({"id":"s","source":"cli"})");
    take_over();

    for (const auto& refused :
         {client.call("session.append", one_message),
          client.call("session.close", R"({"session_id":"s","generation":1})"),
          client.call("turn.start", R"({"session_id":"s","generation":1})"),
          client.call("turn.end", R"({"session_id":"s","generation":1})")}) {
        EXPECT_EQ(refused.code(), -32003);
        EXPECT_EQ(refused.kind(), "fenced");
        EXPECT_EQ(refused.field(), "generation");
        EXPECT_EQ(number(refused.whole, "error.data.generation"), 2);
    }
    EXPECT_EQ(text(show("s"), "status"), "idle");
    EXPECT_EQ(number(show("s"), "message_count"), 0);
}

TEST_F(Ownership, AGenerationFromTheFutureIsFencedToo) {
    create(R"({"id":"s","source":"cli"})");

    const auto refused = client.call("session.close", R"({"session_id":"s","generation":2})");

    EXPECT_EQ(refused.code(), -32003);
    EXPECT_EQ(text(show("s"), "status"), "idle");
}

TEST_F(Ownership, FencingSurvivesARestart) {
    create(R"({"id":"s","source":"cli"})");
    take_over();
    daemon.restart();
    client = Client(home.socket());

    EXPECT_EQ(client.call("session.append", one_message).code(), -32003);
}

TEST_F(Ownership, AnEndedSessionTakesNoWrites) {
    create(R"({"id":"s","source":"cli"})");
    client.must("session.close", R"({"session_id":"s","reason":"manual_reset"})");

    for (const auto& refused :
         {client.call("session.append", one_message),
          client.call("turn.start", R"({"session_id":"s","generation":1})")}) {
        EXPECT_EQ(refused.code(), -32005);
        EXPECT_EQ(refused.kind(), "ended");
        EXPECT_EQ(text(refused.whole, "error.data.reason"), "manual_reset");
        EXPECT_EQ(number(refused.whole, "error.data.generation"), 1);
        EXPECT_NE(text(refused.whole, "error.data.ended_at"), "");
    }
}

TEST_F(Ownership, AnOldGenerationCannotCloseALaterEndEither) {
    create(R"({"id":"s","source":"cli"})");
    client.must("session.close", R"({"session_id":"s"})");
    client.must("session.resume", R"({"session_id":"s"})");
    client.must("session.close", R"({"session_id":"s"})");

    EXPECT_EQ(client.call("session.close", R"({"session_id":"s","generation":1})").code(), -32003);
    EXPECT_TRUE(client.call("session.close", R"({"session_id":"s","generation":2})").ok());
}

TEST_F(Ownership, WhatWasNeverThereIsNotFound) {
    for (const auto& refused :
         {client.call("session.show", R"({"session_id":"s"})"),
          client.call("session.append", one_message),
          client.call("session.close", R"({"session_id":"s"})"),
          client.call("session.resume", R"({"session_id":"s"})"),
          client.call("turn.start", R"({"session_id":"s","generation":1})")}) {
        EXPECT_EQ(refused.code(), -32001);
        EXPECT_EQ(refused.kind(), "not_found");
        EXPECT_THAT(refused.message(), HasSubstr("no session s"));
    }
}

TEST_F(Ownership, ADroppedClientEndsNothing) {
    Client other(home.socket());
    other.must("session.create", R"({"id":"s","source":"cli"})");
    other.must("turn.start", R"({"session_id":"s","generation":1})");
    other.close();

    EXPECT_EQ(text(show("s"), "status"), "running");
}

}  // namespace
}  // namespace knell::functional
