// Where the system gives less than it should: too few descriptors, no pidfd at all.  Deaths are
// found all the same, and nothing is said to be watched that is not.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class Scarcity : public WithOwners {
  protected:
    void start_with(const DaemonLimits& limits) {
        daemon.terminate();
        daemon.start(limits);
        reconnect();
    }
    std::string evidence_of(const std::string& id) {
        return text(client.must("session.why", fmt::format(R"({{"session_id":"{}"}})", id)),
                    "evidence");
    }
};

TEST_F(Scarcity, WithTooFewDescriptorsToFindAnyDeathItSaysSoAndDoesNotStart) {
    daemon.terminate();
    auto spawn = home.command({"up"});
    spawn.descriptors_max = 71;

    const auto outcome = run_command(spawn);

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("only 71 files may be open at once"));
    EXPECT_THAT(outcome.err, HasSubstr("ulimit -n"));
    start_with({.descriptors_max = 72, .file_bytes_max = {}});
}

TEST_F(Scarcity, MoreOwnersThanDescriptorsAndNoDeathIsMissed) {
    start_with({.descriptors_max = 256, .file_bytes_max = {}});
    std::vector<Process> owners;
    for (int i = 0; i < 300; ++i) {
        owners.push_back(idle_process());
        own(fmt::format("s{}", i), owners.back().pid());
    }
    until([&] { return number(client.must("node.status"), "watched_processes") == 300; },
          "all to be watched");
    EXPECT_GT(number(client.must("node.status"), "watch.looked_at"), 0);
    EXPECT_GT(number(client.must("node.status"), "watch.pidfd"), 0);
    EXPECT_THAT(evidence_of("s299"), HasSubstr("looked for every second"));

    for (const auto& owner : owners) owner.signal(SIGKILL);

    until([&] { return number(client.must("node.status"), "sessions.open") == 0; }, "all ends");
    EXPECT_EQ(count_events("session:end"), 300U);
    EXPECT_EQ(count_events("session:unknown"), 0U);
}

class WithoutPidfd : public Scarcity, public testing::WithParamInterface<int> {};

TEST_P(WithoutPidfd, ADeathIsFoundByLooking) {
    start_with({.descriptors_max = {},
                .file_bytes_max = {},
                .refused_calls = {SYS_pidfd_open},
                .refused_with = GetParam()});
    auto killed = idle_process();
    auto vanished = idle_process();
    const auto living = idle_process();
    own("killed", killed.pid());
    own("vanished", vanished.pid());
    own("living", living.pid());
    until([&] { return number(client.must("node.status"), "watch.looked_at") == 3; },
          "all to be looked for");
    EXPECT_THAT(evidence_of("living"), HasSubstr("no pidfd can be had"));

    killed.signal(SIGKILL);
    killed.become_zombie();
    expect_end("killed", "signaled", "signal 9 (SIGKILL)");
    vanished.signal(SIGKILL);
    vanished.wait();
    EXPECT_THAT(text(ended("vanished"), "reason"),
                testing::AnyOf("owner_lost", "signaled"));  // seen as a zombie, or not at all

    EXPECT_TRUE(is_open("living"));
    EXPECT_EQ(count_events("session:unknown"), 0U);
}

TEST_P(WithoutPidfd, AStartFindsWhoIsGone) {
    auto gone = idle_process();
    const auto living = idle_process();
    own("gone", gone.pid());
    own("living", living.pid());
    daemon.kill9();
    gone.signal(SIGKILL);
    gone.wait();

    daemon.start({.descriptors_max = {},
                  .file_bytes_max = {},
                  .refused_calls = {SYS_pidfd_open},
                  .refused_with = GetParam()});
    reconnect();

    EXPECT_FALSE(is_open("gone"));
    EXPECT_EQ(text(show("living"), "status"), "idle");
}

INSTANTIATE_TEST_SUITE_P(EveryRefusal, WithoutPidfd, testing::Values(ENOSYS, EPERM));

}  // namespace
}  // namespace knell::functional
