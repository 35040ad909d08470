// knell events --follow: what a person or a script sees while things happen.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/following.hpp"
#include "functional/harness/waiting.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

using ::testing::HasSubstr;

class FollowCommand : public WithDaemon {};

TEST_F(FollowCommand, BeginsWithTheNewestAndGoesOnWithoutAGap) {
    for (int i = 0; i < 10; ++i) create();
    const auto newest = newest_seq(client);
    Following following(home, {"--limit", "3", "--json"});

    for (auto seq = newest - 2; seq <= newest; ++seq) EXPECT_EQ(following.seq(), seq);
    create();
    EXPECT_EQ(following.seq(), newest + 1);
}

TEST_F(FollowCommand, AfterANumberPrintsAllThatFollows) {
    for (int i = 0; i < 100; ++i) create();
    const auto newest = newest_seq(client);
    Following following(home, {"--after", "20", "--json"});

    for (int seq = 21; seq <= newest; ++seq) ASSERT_EQ(following.seq(), seq);
    create();
    EXPECT_EQ(following.seq(), newest + 1);
}

TEST_F(FollowCommand, PrintsATableLineByLine) {
    Following following(home, {"--type", "session:end"});
    EXPECT_THAT(following.line(), ::testing::MatchesRegex(" *SEQ  TIME +TYPE +SESSION +GEN  WHAT"));

    create(R"({"id":"a","source":"cli"})");
    client.must("session.close", R"({"session_id":"a"})");

    EXPECT_THAT(following.line(),
                ::testing::MatchesRegex(fmt::format(
                    " +{}  20.*Z  session:end +a +1  completed .declared.*", newest_seq(client))));
}

TEST_F(FollowCommand, CtrlCEndsItQuietly) {
    create();
    Following following(home, {"--json"});
    EXPECT_EQ(following.seq(), 1);

    following.process().signal(SIGINT);

    EXPECT_EQ(following.process().wait(), 0);
}

TEST_F(FollowCommand, WhoStopsReadingEndsItAlthoughNothingHappens) {
    create();
    Following following(home, {"--json"});
    EXPECT_EQ(following.seq(), 1);

    following.hang_up();

    EXPECT_EQ(following.process().wait(), 0);
}

TEST_F(FollowCommand, WhatIsNoLongerKeptIsALineOfItsOwn) {
    for (int i = 0; i < 3; ++i) create();
    daemon.terminate();
    testing::edit_store(home.file("knell.db"), "DELETE FROM events WHERE seq <= 2");
    daemon.start();

    Following json(home, {"--after", "0", "--json"});
    EXPECT_EQ(json.line(), R"({"gap":{"from":1,"to":2}})");
    EXPECT_EQ(json.seq(), 3);
    Following table(home, {"--after", "1"});
    EXPECT_THAT(table.line(), HasSubstr("SEQ"));
    EXPECT_EQ(table.line(), "events 2 to 2 are no longer kept");
}

TEST_F(FollowCommand, WaitsForADaemonThatIsNotThereYet) {
    daemon.kill9();
    Following following(home, {"--json", "--after", "0"});
    Following newest(home, {"--json"});
    daemon.start();
    EXPECT_EQ(following.seq(), 1);
    EXPECT_GE(newest.seq(), 1);
}

TEST_F(FollowCommand, SurvivesKilledDaemonsAndPrintsEveryNumberOnce) {
    Following following(home, {"--json"});
    std::int64_t acknowledged = 0;
    std::int64_t printed = 0;
    // It begins with the newest fifty of those that are there when it comes.
    ASSERT_EQ(following.seq(), ++printed);
    for (int round = 0; round < 5; ++round) {
        // Killed with calls under way: some of them are on record although nobody was told.
        for (int i = 0; i < 40; ++i) {
            client.must("session.create", R"({"source":"cli"})");
            ++acknowledged;
        }
        std::string more;
        for (int i = 0; i < 50; ++i) {
            more +=
                R"({"jsonrpc":"2.0","id":1,"method":"session.create","params":{"source":"cli"}})"
                "\n";
        }
        client.send(more);
        daemon.kill9();
        daemon.start();
        client = Client(home.socket());
        acknowledged = number(client.must("node.status"), "events.last_seq");
        while (printed < acknowledged) ASSERT_EQ(following.seq(), ++printed);
    }
    EXPECT_GE(printed, 200);
}

}  // namespace
}  // namespace knell::functional
