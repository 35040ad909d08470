// Clients that attach to sessions over the socket, leave, and come back: what they are told, and
// what the record says of them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto to_s = R"({"session_id":"s"})";

/// The next line must be an event; gives its type.
std::string next_type(Client& client) {
    const auto line = client.read_line();
    if (!line) throw std::runtime_error("the feed ended");
    return text(parse(*line), "params.type");
}

class Attach : public WithOwners {
  protected:
    Attach() { create(R"({"id":"s","source":"web","owner":{"kind":"hosted"}})"); }

    Json attach(Client& viewer, std::string_view params = to_s) {
        return viewer.must("session.attach", params);
    }
    void until_attached(int count) {
        until([&] { return number(show("s"), "attached") == count; }, "the disconnect");
    }
    std::vector<std::string> live() { return ids_of(client.must("session.active_list")); }
    void start_turn() { client.must("turn.start", R"({"session_id":"s","generation":1})"); }
    void end_turn() { client.must("turn.end", R"({"session_id":"s","generation":1})"); }
};

TEST_F(Attach, SeveralLookAtASessionAndHearWhatHappensToIt) {
    Client one(home.socket());
    Client two(home.socket());
    EXPECT_EQ(number(attach(one), "attached"), 1);
    const auto second = attach(two);
    EXPECT_EQ(number(second, "attached"), 2);
    EXPECT_EQ(array(second, "others").size(), 1U);
    EXPECT_EQ(text(show("s"), "status"), "attached");

    start_turn();

    EXPECT_EQ(next_type(one), "session:attach");
    EXPECT_EQ(next_type(one), "agent:start");
    EXPECT_EQ(next_type(two), "agent:start");
    EXPECT_EQ(text(show("s"), "status"), "running");
}

TEST_F(Attach, ADisconnectEndsNothingAndWhatHappenedIsReplayed) {
    Client viewer(home.socket());
    const auto after = number(attach(viewer), "after");
    start_turn();
    viewer.close();
    until_attached(0);
    EXPECT_EQ(text(show("s"), "status"), "running");
    end_turn();

    Client back(home.socket());
    attach(back, fmt::format(R"({{"session_id":"s","after":{}}})", after));

    EXPECT_EQ(next_type(back), "session:attach");
    EXPECT_EQ(next_type(back), "agent:start");
    EXPECT_EQ(next_type(back), "agent:end");
    EXPECT_THAT(story_of(client, "s"),
                ElementsAre("session:start 1", "session:attach 1", "agent:start 1", "agent:end 1"))
        << "a refresh was told";
}

TEST_F(Attach, WhatIsNoLongerKeptIsAGap) {
    daemon.terminate();
    testing::edit_store(home.file("knell.db"), "DELETE FROM events WHERE seq <= 2");
    daemon.start();
    reconnect();
    Client viewer(home.socket());

    attach(viewer, R"({"session_id":"s","after":0})");

    EXPECT_THAT(viewer.read_line().value_or(""), HasSubstr(R"("gap")"));
}

TEST_F(Attach, TheLastThatIsGoneIsToldAfterAMoment) {
    Client viewer(home.socket());
    attach(viewer);
    EXPECT_EQ(next_type(viewer), "session:attach");
    EXPECT_EQ(number(viewer.must("session.detach", to_s), "attached"), 0);
    EXPECT_EQ(text(show("s"), "status"), "detached");

    until([&] { return count_events("session:detach") == 1; }, "session:detach");

    EXPECT_EQ(count_events("session:attach"), 1U);
}

TEST_F(Attach, AKilledDaemonKnowsNoClientsAndTheyComeBackWithoutASeam) {
    Client viewer(home.socket());
    const auto after = number(attach(viewer), "after");
    start_turn();
    daemon.kill9();
    daemon.start();
    reconnect();
    EXPECT_EQ(number(show("s"), "attached"), 0);
    EXPECT_EQ(text(show("s"), "status"), "running");

    Client back(home.socket());
    EXPECT_EQ(
        number(attach(back, fmt::format(R"({{"session_id":"s","after":{}}})", after)), "attached"),
        1);

    EXPECT_EQ(next_type(back), "session:attach");
    EXPECT_EQ(next_type(back), "agent:start");
    end_turn();
    EXPECT_EQ(next_type(back), "agent:end");
    EXPECT_EQ(count_events("session:attach"), 1U);
    EXPECT_EQ(count_events("session:detach"), 0U);
}

TEST_F(Attach, AnEndIsToldAndItsNextLifeCanBeAttachedTo) {
    Client viewer(home.socket());
    attach(viewer);
    client.must("session.close", to_s);
    EXPECT_EQ(next_type(viewer), "session:attach");
    EXPECT_EQ(next_type(viewer), "session:end");
    EXPECT_EQ(viewer.call("session.attach", to_s).kind(), "ended");

    client.must("session.resume", R"({"session_id":"s","owner":{"kind":"hosted"}})");

    EXPECT_EQ(number(attach(viewer), "generation"), 2);
}

TEST_F(Attach, WhatIsLiveIsListed) {
    EXPECT_THAT(live(), ElementsAre("s"));
    const auto listed = home.knell({"ls", "--live"});
    EXPECT_EQ(listed.status, 0);
    EXPECT_THAT(listed.out, HasSubstr("detached"));
    daemon.terminate();
    testing::edit_store(home.file("knell.db"),
                        "UPDATE sessions SET detached_since = detached_since - 31000");
    daemon.start();
    reconnect();
    EXPECT_THAT(live(), Not(::testing::Contains("s")));
    EXPECT_THAT(ids_of(client.must("session.active_list", R"({"current_session_id":"s"})")),
                ElementsAre("s"));
}

/// As a browser does that is never closed, only loaded anew: nothing grows.
TEST_F(Attach, ReconnectsLeaveNothingBehind) {
    for (int i = 0; i < 300; ++i) {
        Client viewer(home.socket());
        attach(viewer);
        if (i % 2 == 0) {
            viewer.send(R"({"jsonrpc":"2.0","id":9,"method":"session.detach",)"
                        R"("params":{"session_id":"s"}})"
                        "\n");
        }
    }
    until_attached(0);
    const auto status = client.must("node.status");
    EXPECT_EQ(number(status, "sessions.open"), 1);
    until([&] { return number(client.must("node.status"), "connections.open") == 1; },
          "closed connections");
    EXPECT_LE(count_events("session:attach"), 2U);
}

TEST(HostedTurn, KeepsItsConfiguredWindowOverARestart) {
    const TempHome home;
    write_file(home.file("config.yaml"), "http:\n  turn_window: 7d\n");
    {
        Daemon daemon(home);
        Client client(home.socket());
        client.must("session.create", R"({"id":"s","source":"web","owner":{"kind":"hosted"}})");
        client.must("turn.start", R"({"session_id":"s","generation":1})");
        daemon.terminate();
    }
    const Daemon daemon(home);
    Client client(home.socket());
    const auto why = client.must("session.why", to_s);
    double due_in_s = 0;
    for (const auto& end : array(why, "would_end")) {
        if (const auto* due = end.as_object().if_contains("due_in_s")) {
            due_in_s = due->to_number<double>();
        }
    }
    EXPECT_GT(due_in_s, 6 * 24 * 3600);
}

}  // namespace
}  // namespace knell::functional
