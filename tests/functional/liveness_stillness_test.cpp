// What must not kill: an owner that is stopped, a daemon that is, a silence of any length.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

class Stillness : public WithOwners {};

TEST_F(Stillness, OfAStoppedOwnerEndsNothing) {
    auto owner = idle_process();
    own("s", owner.pid());
    own("leased", owner.pid());
    owner.freeze();

    let_observers_speak();

    EXPECT_TRUE(is_open("s"));
    EXPECT_EQ(text(client.must("session.why", R"({"session_id":"s"})"), "verdict"), "alive");
    daemon.restart();
    reconnect();
    EXPECT_TRUE(is_open("s")) << "a stopped process is adopted like any other";
    owner.signal(SIGCONT);
    owner.signal(SIGTERM);
    expect_end("s", "signaled", "signal 15 (SIGTERM)");
}

TEST_F(Stillness, OfAnOwnerUnderADebuggerEndsNothing) {
    auto owner = idle_process();
    own("s", owner.pid());
    ASSERT_EQ(::ptrace(PTRACE_SEIZE, owner.pid(), nullptr, nullptr), 0);
    ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, owner.pid(), nullptr, nullptr), 0);
    ASSERT_EQ(::waitpid(owner.pid(), nullptr, __WALL), owner.pid());

    let_observers_speak();

    EXPECT_TRUE(is_open("s"));
    ::ptrace(PTRACE_DETACH, owner.pid(), nullptr, nullptr);
}

TEST_F(Stillness, OfTheDaemonEndsNothingAndMissesNothing) {
    auto living = idle_process();
    auto dying = idle_process();
    own("living", living.pid());
    own("dying", dying.pid());
    client.must("session.create", R"({"id":"lease","source":"cli","owner":{"lease_ttl_s":5}})");
    for (int i = 0; i < 3; ++i) {
        daemon.freeze();
        if (i == 1) dying.signal(SIGKILL);
        daemon.signal(SIGCONT);
        client.must("session.heartbeat", R"({"session_id":"lease","generation":1})");
    }

    expect_end("dying", "signaled", "signal 9 (SIGKILL)");
    EXPECT_TRUE(is_open("living"));
    EXPECT_TRUE(is_open("lease"));
}

TEST_F(Stillness, OfAProcessThatPromisedProgressIsAStall) {
    auto owner = idle_process();
    client.must("session.create",
                fmt::format(R"({{"id":"s","source":"cli","owner":{{"pid":{},"lease_ttl_s":5}}}})",
                            owner.pid()));
    owner.freeze();

    until([&] { return text(show("s"), "status") == "stalled"; }, "the stall to be noticed");

    EXPECT_EQ(count_events("session:stalled"), 1U);
    EXPECT_EQ(count_events("session:end"), 0U);
    client.must("session.heartbeat", R"({"session_id":"s","generation":1})");
    EXPECT_EQ(text(show("s"), "status"), "idle");
    owner.signal(SIGCONT);
    owner.signal(SIGKILL);
    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Stillness, OfAClientIsNotAnEnd) {
    // A dropped connection, a half-closed one, one that never reads: none is an owner's death.
    auto owner = idle_process();
    Client dropped(home.socket());
    dropped.must("session.create",
                 fmt::format(R"({{"id":"s","source":"cli","owner":{{"pid":{}}}}})", owner.pid()));
    dropped.close();

    let_observers_speak();

    EXPECT_TRUE(is_open("s"));
}

}  // namespace
}  // namespace knell::functional
