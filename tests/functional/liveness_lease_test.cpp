// Lease owners over the socket: renewed, fenced, reaped.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class LeaseCalls : public WithOwners {
  protected:
    Json lease(const std::string& id, int ttl) {
        return client.must(
            "session.create",
            fmt::format(R"({{"id":"{}","source":"cli","owner":{{"lease_ttl_s":{}}}}})", id, ttl));
    }
};

TEST_F(LeaseCalls, CreateAdvisesWhenToRenew) {
    EXPECT_EQ(number(lease("a", 45), "renew_every_s"), 15);
    EXPECT_EQ(number(lease("b", 5), "renew_every_s"), 1);
    EXPECT_EQ(number(lease("b2", 45), "lease_ttl_s"), 45);
    EXPECT_EQ(
        client.call("session.create", R"({"source":"cli","owner":{"lease_ttl_s":4}})").field(),
        "owner.lease_ttl_s");
}

TEST_F(LeaseCalls, ABeatSaysWhatBecameOfEach) {
    for (const auto* id : {"a", "b", "c"}) lease(id, 60);
    client.must("session.close", R"({"session_id":"b"})");
    client.must("session.resume",
                R"({"session_id":"c","takeover":true,"owner":{"lease_ttl_s":60}})");

    const auto beaten = client.must("session.heartbeat", R"({"sessions":[
        {"session_id":"a","generation":1},{"session_id":"b","generation":1},
        {"session_id":"c","generation":1},{"session_id":"c","generation":2},
        {"session_id":"x","generation":1}]})");

    EXPECT_EQ(wire::to_text(at(beaten, "renewed")), R"(["a","c"])");
    EXPECT_EQ(wire::to_text(at(beaten, "fenced")), R"(["c"])");
    EXPECT_EQ(wire::to_text(at(beaten, "ended")), R"(["b","x"])");
}

TEST_F(LeaseCalls, WhatIsNotRenewedIsReapedAndTheRestIsNot) {
    lease("silent", 5);
    lease("renewed", 5);
    lease("long", 600);

    // The other one is renewed all the while.
    until(
        [&] {
            client.must("session.heartbeat", R"({"session_id":"renewed","generation":1})");
            return text(show("silent"), "status") == "ended";
        },
        "the reap");

    expect_end("silent", "reaped", "lease of 5 s not renewed");
    EXPECT_EQ(text(show("silent"), "proof"), "inferred");
    EXPECT_EQ(text(show("silent"), "ended_after"), text(show("silent"), "started_at"));
    EXPECT_TRUE(is_open("renewed"));
    EXPECT_TRUE(is_open("long"));
    EXPECT_EQ(number(client.must("node.status"), "leases.reaps"), 1);
    const auto refused = client.call("session.append", R"({"session_id":"silent","generation":1,
        "messages":[{"role":"user","content":"too late"}]})");
    EXPECT_EQ(refused.kind(), "ended");
}

TEST_F(LeaseCalls, BeatsAreNotWritten) {
    lease("a", 60);
    const auto before = number(client.must("node.status"), "journal.commits");
    for (int i = 0; i < 500; ++i) {
        client.must("session.heartbeat", R"({"session_id":"a","generation":1})");
    }

    EXPECT_LE(number(client.must("node.status"), "journal.commits"), before + 1);
    EXPECT_GE(number(client.must("node.status"), "leases.heartbeats"), 500);
}

TEST_F(LeaseCalls, WhyTellsWhenItWouldEnd) {
    lease("a", 600);

    const auto why = client.must("session.why", R"({"session_id":"a"})");

    EXPECT_EQ(text(why, "verdict"), "alive");
    EXPECT_THAT(text(why, "evidence"), HasSubstr("renewed at"));
    EXPECT_THAT(text(why, "would_end.1.cause"), HasSubstr("not renewed"));
    EXPECT_GT(at(why, "would_end.1.due_in_s").to_number<double>(), 500);
}

TEST_F(LeaseCalls, ARestartCostsNobodyALease) {
    for (int i = 0; i < 50; ++i) lease(fmt::format("l{}", i), 600);
    daemon.restart();
    reconnect();

    EXPECT_EQ(number(client.must("node.status"), "leases.live"), 50);
    EXPECT_EQ(count_events("session:end"), 0U);
}

}  // namespace
}  // namespace knell::functional
