// A session from its first call to its last, over the socket.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

class SessionLife : public WithDaemon {};

constexpr auto rfc3339 = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z";

TEST_F(SessionLife, CreateAnswersWithIdGenerationAndStatus) {
    const auto opened = client.must("session.create", R"({"source":"cli"})");

    EXPECT_THAT(text(opened, "session_id"),
                MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"));
    EXPECT_EQ(number(opened, "generation"), 1);
    EXPECT_EQ(text(opened, "status"), "idle");
}

TEST_F(SessionLife, ShowTellsAllThatCreateWasTold) {
    create(R"({"id":"mother","source":"cli"})");
    create(R"({"id":"a.b:c@d+e=f-1","key":"agent:main:telegram:dm:42","source":"gateway",
        "platform":"telegram","user_id":"u 42","parent_id":"mother","relation":"branch",
        "model":"m-1","title":"Grüße","cwd":"/srv/app","meta":{"a":[1,{"b":null}]}})");

    const auto session = show("a.b:c@d+e=f-1");

    EXPECT_EQ(text(session, "key"), "agent:main:telegram:dm:42");
    EXPECT_EQ(text(session, "source"), "gateway");
    EXPECT_EQ(text(session, "platform"), "telegram");
    EXPECT_EQ(text(session, "user_id"), "u 42");
    EXPECT_EQ(text(session, "parent_id"), "mother");
    EXPECT_EQ(text(session, "relation"), "branch");
    EXPECT_EQ(text(session, "model"), "m-1");
    EXPECT_EQ(text(session, "title"), "Grüße");
    EXPECT_EQ(text(session, "cwd"), "/srv/app");
    EXPECT_EQ(at(session, "meta"), parse(R"({"a":[1,{"b":null}]})"));
    EXPECT_THAT(text(session, "started_at"), MatchesRegex(rfc3339));
    EXPECT_EQ(text(session, "last_activity_at"), text(session, "started_at"));
    EXPECT_EQ(number(session, "message_count"), 0);
}

TEST_F(SessionLife, TheCallerIsTheOwnerUnlessToldOtherwise) {
    create(R"({"id":"mine","source":"cli"})");
    const auto leased = client.must("session.create",
                                    R"({"id":"leased","source":"cli","owner":{"lease_ttl_s":45}})");

    EXPECT_EQ(text(show("mine"), "owner.kind"), "process");
    EXPECT_EQ(number(show("mine"), "owner.pid"), getpid());
    EXPECT_EQ(text(show("leased"), "owner.kind"), "lease");
    EXPECT_EQ(number(show("leased"), "owner.lease_ttl_s"), 45);
    EXPECT_EQ(number(leased, "renew_every_s"), 15);
}

TEST_F(SessionLife, AppendCountsMessagesAndTokens) {
    create(R"({"id":"s","source":"cli"})");

    client.must("session.append", R"({"session_id":"s","generation":1,"messages":[
        {"role":"user","content":"hello\nthere","tokens":3},
        {"role":"assistant","content":"hi","tokens":5}]})");
    const auto appended =
        client.must("session.append", R"({"session_id":"s","generation":1,"messages":[
        {"role":"tool","content":"","tool_name":"bash","tokens":7}]})");

    EXPECT_EQ(number(appended, "message_count"), 3);
    EXPECT_EQ(number(appended, "input_tokens"), 10);
    EXPECT_EQ(number(appended, "output_tokens"), 5);
    const auto session = client.must("session.show", R"({"session_id":"s","messages":2})");
    EXPECT_EQ(number(session, "message_count"), 3);
    EXPECT_GE(text(session, "last_activity_at"), text(session, "started_at"));
    ASSERT_EQ(array(session, "messages").size(), 2U);
    EXPECT_EQ(text(session, "messages.0.content"), "hi");
    EXPECT_EQ(text(session, "messages.1.tool_name"), "bash");
    EXPECT_EQ(number(session, "messages.1.tokens"), 7);
}

TEST_F(SessionLife, ATurnMakesItRunningUntilItEnds) {
    create(R"({"id":"s","source":"cli"})");
    const auto* turn = R"({"session_id":"s","generation":1})";

    EXPECT_EQ(text(client.must("turn.start", turn), "status"), "running");
    EXPECT_EQ(text(show("s"), "status"), "running");
    EXPECT_EQ(at(client.must("turn.start", turn), "changed"), Json(false));
    EXPECT_EQ(text(client.must("turn.end", turn), "status"), "idle");
    EXPECT_EQ(text(show("s"), "status"), "idle");
    EXPECT_EQ(at(client.must("turn.end", turn), "changed"), Json(false));

    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "agent:start 1", "agent:end 1"));
}

TEST_F(SessionLife, CloseSaysWhyWithProofAndBounds) {
    create(R"({"id":"s","source":"cli"})");

    const auto closed =
        client.must("session.close",
                    R"({"session_id":"s","generation":1,"reason":"exited","detail":"exit 3"})");

    EXPECT_EQ(text(closed, "status"), "ended");
    const auto session = show("s");
    EXPECT_EQ(text(session, "status"), "ended");
    EXPECT_EQ(text(session, "reason"), "exited");
    EXPECT_EQ(text(session, "proof"), "declared") << "a client says so, nobody saw it";
    EXPECT_EQ(text(session, "detail"), "exit 3");
    EXPECT_NE(text(session, "evidence"), "");
    EXPECT_LE(text(session, "ended_after"), text(session, "ended_at"));
    EXPECT_LE(text(session, "ended_at"), text(session, "ended_before"));
}

TEST_F(SessionLife, ClosingTwiceEndsOnce) {
    create(R"({"id":"s","source":"cli"})");
    const auto first = client.must("session.close", R"({"session_id":"s"})");

    const auto second =
        client.must("session.close", R"({"session_id":"s","reason":"manual_reset"})");

    EXPECT_EQ(at(first, "already_ended"), Json(false));
    EXPECT_EQ(at(second, "already_ended"), Json(true));
    EXPECT_EQ(text(second, "reason"), "completed");
    EXPECT_EQ(text(second, "ended_at"), text(first, "ended_at"));
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
}

TEST_F(SessionLife, ATurnThatIsOnEndsBeforeItsSession) {
    create(R"({"id":"s","source":"cli"})");
    client.must("turn.start", R"({"session_id":"s","generation":1})");
    client.must("session.close", R"({"session_id":"s"})");

    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "agent:start 1", "agent:end 1", "session:end 1"));
}

TEST_F(SessionLife, CallsSentInOneGoAreDoneInOrder) {
    std::string calls;
    for (const auto* call :
         {R"("id":1,"method":"session.create","params":{"id":"s","source":"cli"})",
          R"("id":2,"method":"session.close","params":{"session_id":"s"})",
          R"("id":3,"method":"session.resume","params":{"session_id":"s"})",
          R"("id":4,"method":"session.close","params":{"session_id":"s"})"}) {
        calls += std::string(R"({"jsonrpc":"2.0",)") + call + "}\n";
    }
    client.send(calls);

    std::vector<std::int64_t> ids;
    for (int i = 0; i < 4; ++i) {
        const auto answer = client.read_answer();
        EXPECT_TRUE(answer.ok()) << answer.message();
        ids.push_back(number(answer.whole, "id"));
    }
    EXPECT_THAT(ids, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1",
                                                   "session:start 2", "session:end 2"));
}

TEST_F(SessionLife, AllOfItSurvivesARestart) {
    create(R"({"id":"open","source":"cli","title":"kept"})");
    client.must("session.append", R"({"session_id":"open","generation":1,"messages":[
        {"role":"user","content":"x","tokens":2}]})");
    client.must("turn.start", R"({"session_id":"open","generation":1})");
    create(R"({"id":"closed","source":"cli"})");
    client.must("session.close", R"({"session_id":"closed","detail":"bye"})");
    const auto open = show("open");
    const auto closed = show("closed");
    const auto events = session_events(client);

    daemon.restart();
    client = Client(home.socket());

    EXPECT_EQ(show("open"), open);
    EXPECT_EQ(show("closed"), closed);
    EXPECT_EQ(session_events(client), events);
}

TEST_F(SessionLife, AnOrderlyStopSaysSoAndTakesTheSocketAway) {
    create(R"({"id":"s","source":"cli"})");

    EXPECT_EQ(daemon.terminate(), 0);

    EXPECT_THAT(daemon.log(), testing::HasSubstr("open sessions stay on record"));
    EXPECT_NE(access(home.socket().c_str(), F_OK), 0);
    daemon.start();
    client = Client(home.socket());
    EXPECT_EQ(text(show("s"), "status"), "idle");
}

TEST_F(SessionLife, NodeStatusCountsWhatThereIs) {
    create(R"({"id":"a","source":"cli"})");
    create(R"({"id":"b","source":"cli"})");
    client.must("turn.start", R"({"session_id":"a","generation":1})");

    const auto status = client.must("node.status");

    EXPECT_EQ(number(status, "pid"), daemon.pid());
    EXPECT_EQ(text(status, "home"), home.path());
    EXPECT_EQ(number(status, "sessions.open"), 2);
    EXPECT_EQ(number(status, "sessions.running"), 1);
    EXPECT_EQ(number(status, "events.first_seq"), 1);
    const auto events = all_events(client);
    EXPECT_EQ(number(status, "events.last_seq"), number(events.back(), "seq"));
    EXPECT_EQ(text(events.back(), "type"), "agent:start");
    EXPECT_EQ(number(status, "connections.open"), 1);
}

TEST_F(SessionLife, WhatIsSentBehindACloseIsDecidedAfterIt) {
    for (int round = 0; round < 20; ++round) {
        const auto id = "r" + std::to_string(round);
        create(R"({"source":"cli","id":")" + id + "\"}");
        ASSERT_TRUE(client.send(
            R"({"jsonrpc":"2.0","id":1,"method":"session.close","params":{"session_id":")" + id +
            "\"}}\n" +
            R"({"jsonrpc":"2.0","id":2,"method":"session.append","params":{"generation":1,)" +
            R"("messages":[{"role":"user","content":"late"}],"session_id":")" + id + "\"}}\n"));
        EXPECT_TRUE(client.read_answer().ok());
        ASSERT_FALSE(client.read_answer().ok()) << "round " << round << ": it overtook the close";
        EXPECT_EQ(number(show(id), "message_count"), 0);
    }
}

}  // namespace
}  // namespace knell::functional
