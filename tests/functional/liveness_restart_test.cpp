// The daemon dies too: what it finds when it comes back, and what it may say about it.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class Restart : public WithOwners {
  protected:
    void start_again() {
        daemon.start();
        reconnect();
    }
    /// Changes what the store remembers of the owner of `id`.
    void remember(const std::string& id, const std::string& assignment) {
        knell::testing::edit_store(
            home.file("knell.db"),
            fmt::format("UPDATE sessions SET {} WHERE id = '{}'", assignment, id));
    }
};

TEST_F(Restart, LivingOwnersAreAdoptedAndWatchedAgain) {
    auto one = idle_process();
    auto two = idle_process();
    own("one", one.pid());
    own("two", two.pid());
    client.must("turn.start", R"({"session_id":"two","generation":1})");

    daemon.restart();
    reconnect();

    EXPECT_EQ(text(show("one"), "status"), "idle");
    EXPECT_EQ(text(show("two"), "status"), "running");
    EXPECT_EQ(number(show("one"), "generation"), 1);
    EXPECT_TRUE(client
                    .call("session.append", R"({"session_id":"one","generation":1,
        "messages":[{"role":"user","content":"x"}]})")
                    .ok());
    EXPECT_EQ(count_events("session:start"), 2U);
    EXPECT_EQ(count_events("session:end"), 0U);
    one.signal(SIGTERM);
    expect_end("one", "signaled", "signal 15 (SIGTERM)");
    EXPECT_TRUE(is_open("two"));
}

TEST_F(Restart, AnOwnerThatDiedMeanwhileIsFoundGone) {
    auto owner = idle_process();
    own("s", owner.pid());
    const auto started = text(show("s"), "started_at");
    daemon.kill9();
    owner.signal(SIGKILL);
    owner.wait();
    start_again();

    // It had ended before anybody could ask.
    const auto session = show("s");
    EXPECT_EQ(text(session, "status"), "ended");
    EXPECT_EQ(text(session, "reason"), "owner_lost");
    EXPECT_EQ(text(session, "proof"), "observed");
    EXPECT_THAT(text(session, "evidence"), HasSubstr(fmt::format("no process {} ", owner.pid())));
    expect_ordered_bounds(session);
    EXPECT_GE(text(session, "ended_after"), started);
    EXPECT_LT(text(session, "ended_after"), text(session, "ended_before"));
    EXPECT_EQ(count_events("session:end"), 1U);
}

TEST_F(Restart, AZombiesStatusIsStillThere) {
    Puppet owner;
    own("s", owner.pid());
    daemon.kill9();
    owner.tell("exit 9");
    owner.become_zombie();
    start_again();

    expect_end("s", "exited", "exit 9");
    EXPECT_LT(text(show("s"), "ended_after"), text(show("s"), "ended_before"))
        << "when it ended within those bounds nobody saw";
}

TEST_F(Restart, WithAllOwnersAliveOrDeadEachIsToldApart) {
    std::vector<Process> owners;
    for (int i = 0; i < 40; ++i) {
        owners.push_back(idle_process());
        own(fmt::format("s{}", i), owners.back().pid());
    }
    daemon.kill9();
    for (std::size_t i = 0; i < owners.size(); i += 2) {
        owners[i].signal(SIGKILL);
        owners[i].wait();
    }
    start_again();

    for (int i = 0; i < 40; ++i) EXPECT_EQ(is_open(fmt::format("s{}", i)), i % 2 == 1) << i;
    EXPECT_EQ(count_events("session:end"), 20U);
    until([&] { return number(client.must("node.status"), "watched_processes") == 20; },
          "the living to be watched");
}

TEST_F(Restart, DaemonAndOwnerKilledTogether) {
    auto owner = idle_process();
    own("s", owner.pid());
    owner.signal(SIGKILL);
    daemon.kill9();
    owner.wait();
    start_again();

    // Whether the daemon got to see it or not.
    const auto session = ended("s");
    EXPECT_THAT(text(session, "reason"), AnyOf("signaled", "owner_lost"));
    EXPECT_EQ(count_events("session:end"), 1U);
}

TEST_F(Restart, AnEndIsToldOnceOverManyCrashes) {
    auto owner = idle_process();
    own("s", owner.pid());
    daemon.kill9();
    owner.signal(SIGKILL);
    owner.wait();
    for (int i = 0; i < 5; ++i) {
        daemon.launch();
        if (i % 2 == 0) daemon.wait_until_it_listens();
        daemon.kill9();
    }
    start_again();

    EXPECT_EQ(text(show("s"), "reason"), "owner_lost");
    EXPECT_EQ(count_events("session:end"), 1U);
}

TEST_F(Restart, APlannedStopLeavesNarrowBounds) {
    auto owner = idle_process();
    own("s", owner.pid());
    const auto later = create();
    EXPECT_EQ(daemon.terminate(), 0);
    owner.signal(SIGKILL);
    owner.wait();
    start_again();

    const auto session = show("s");
    EXPECT_EQ(text(session, "reason"), "owner_lost");
    const auto looked = std::chrono::milliseconds{500};  // at the most, before it stopped
    EXPECT_GE(*parse_rfc3339(text(session, "ended_after")) + looked,
              *parse_rfc3339(text(show(later), "started_at")))
        << "the daemon saw it alive when it stopped";
}

TEST_F(Restart, OfTheHostEndsWhatRanBefore) {
    auto owner = idle_process();
    own("s", owner.pid());
    own("parking", owner.pid(), R"("on_owner_loss":"park")");
    own("here", owner.pid());
    daemon.kill9();
    remember("s", "owner_boot_id = '00000000-0000-4000-8000-000000000000'");
    remember("parking", "owner_boot_id = '00000000-0000-4000-8000-000000000000'");
    start_again();

    for (const auto* id : {"s", "parking"}) {
        EXPECT_EQ(text(show(id), "status"), "ended");
        EXPECT_EQ(text(show(id), "reason"), "host_restart");
        EXPECT_EQ(text(show(id), "proof"), "observed");
        EXPECT_THAT(text(show(id), "evidence"), HasSubstr("00000000-0000-4000-8000-000000000000"));
        expect_ordered_bounds(show(id));
    }
    EXPECT_TRUE(is_open("here")) << "the same pid, but of this boot";
}

TEST_F(Restart, AStrangerUnderTheOwnersPidIsADeathAndIsLeftAlone) {
    auto stranger = idle_process();
    own("s", stranger.pid(), R"("leftovers":"stop")");
    daemon.kill9();
    remember("s", "owner_start_ticks = owner_start_ticks - 1");
    start_again();

    const auto session = ended("s");
    EXPECT_EQ(text(session, "reason"), "owner_lost");
    EXPECT_THAT(text(session, "evidence"), HasSubstr("belongs to another process"));
    let_observers_speak();
    stranger.signal(SIGTERM);
    EXPECT_EQ(stranger.wait(), 128 + SIGTERM) << "nobody but the test has signalled it";
}

TEST_F(Restart, AnOwnerOfNoKnownPidNamespaceIsUnknownForGood) {
    auto owner = idle_process();
    own("s", owner.pid());
    daemon.kill9();
    remember("s", "owner_pid_ns = 0");
    start_again();

    auto session = show("s");
    EXPECT_EQ(text(session, "status"), "unknown");
    const auto since = text(session, "unknown_since");
    EXPECT_NE(since, "");
    EXPECT_EQ(count_events("session:unknown"), 1U);
    EXPECT_EQ(text(client.must("session.why", R"({"session_id":"s"})"), "verdict"), "unknown");
    const auto refused = client.call("session.resume", R"({"session_id":"s"})");
    EXPECT_EQ(refused.kind(), "owned");
    EXPECT_EQ(text(refused.whole, "error.data.how_known"), "cannot be checked");

    // Neither its death, nor a sweep, nor another restart is evidence.
    owner.signal(SIGKILL);
    owner.wait();
    let_observers_speak();
    daemon.restart();
    reconnect();
    session = show("s");
    EXPECT_EQ(text(session, "status"), "unknown");
    EXPECT_EQ(text(session, "unknown_since"), since);
    EXPECT_EQ(count_events("session:unknown"), 1U);
    client.must("session.close", R"({"session_id":"s","detail":"a person says so"})");
    EXPECT_EQ(text(show("s"), "reason"), "completed");
}

TEST_F(Restart, AnUnknownOwnersWriteIsTakenAndMakesNobodyWatchIt) {
    auto owner = idle_process();
    own("s", owner.pid());
    daemon.kill9();
    remember("s", "owner_pid_ns = 0");
    start_again();
    ASSERT_EQ(text(show("s"), "status"), "unknown");

    client.must("session.append", R"({"session_id":"s","generation":1,
        "messages":[{"role":"user","content":"still here"}]})");

    EXPECT_EQ(number(show("s"), "message_count"), 1);
    EXPECT_EQ(text(show("s"), "status"), "unknown") << "only a look at the process tells";
}

TEST_F(Restart, ParkedSessionsWaitForTheirGateway) {
    auto gateway = idle_process();
    for (int i = 0; i < 10; ++i) {
        own(fmt::format("s{}", i), gateway.pid(),
            fmt::format(R"("key":"dm:{}","on_owner_loss":"park","park_s":600)", i));
    }
    gateway.signal(SIGKILL);
    until([&] { return text(show("s9"), "status") == "detached"; }, "the sessions to be parked");
    daemon.restart();
    reconnect();
    auto next = idle_process();
    EXPECT_THAT(text(show("s9"), "park_why"), HasSubstr("signal 9 (SIGKILL)"));
    EXPECT_LE(*parse_rfc3339(text(show("s9"), "parked_since")),
              *parse_rfc3339(text(show("s9"), "parked_before")));
    EXPECT_THAT(home.knell({"why", "s9"}).out, HasSubstr("signal 9 (SIGKILL)"));

    for (int i = 0; i < 10; ++i) {
        const auto claimed = client.must(
            "session.resume",
            fmt::format(R"({{"session_id":"s{}","owner":{{"pid":{}}},"on_owner_loss":"park"}})", i,
                        next.pid()));
        EXPECT_EQ(number(claimed, "generation"), 2);
    }

    EXPECT_EQ(text(show("s3"), "status"), "idle");
    EXPECT_EQ(text(show("s3"), "key"), "dm:3");
    EXPECT_EQ(count_events("session:end"), 10U);
    const auto ends = client.must("events.read", R"({"types":["session:end"],"limit":1})");
    EXPECT_EQ(text(ends, "events.0.reason"), "superseded");
    EXPECT_EQ(text(ends, "events.0.detail"), "claimed");
    EXPECT_THAT(text(ends, "events.0.evidence"),
                HasSubstr("it was parked: its owner went between"));
    EXPECT_THAT(text(ends, "events.0.evidence"), HasSubstr("signal 9 (SIGKILL)"));
}

TEST_F(Restart, AParkedSessionThatNobodyClaimsIsLost) {
    auto gateway = idle_process();
    own("s", gateway.pid(), R"("on_owner_loss":"park","park_s":1)");
    gateway.signal(SIGKILL);

    expect_end("s", "owner_lost", "park window over");
}

}  // namespace
}  // namespace knell::functional
