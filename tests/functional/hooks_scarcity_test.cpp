// Hooks of a daemon that has too little: they wait, and are not blamed.

#include <cerrno>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "functional/harness/hooks.hpp"

namespace knell::functional {
namespace {

class ScarceHooks : public WithHooks {
  protected:
    void start_with(const DaemonLimits& limits) {
        daemon.terminate();
        daemon.start(limits);
        reconnect();
    }
};

TEST_F(ScarceHooks, WithFewDescriptorsTheyTakeTurnsAndNoneFails) {
    const std::vector<std::string> names{"a", "b", "c", "d"};
    for (const auto& name : names) add_listener(name, "\"session:*\"");
    start_with({.descriptors_max = 72, .file_bytes_max = {}});
    const auto most = number(client.must("node.status"), "connections.max");
    std::vector<Client> others;
    for (int i = 1; i < most; ++i) others.emplace_back(home.socket());

    for (int i = 0; i < 5; ++i) live_and_die(fmt::format("s{}", i));

    for (const auto& name : names) {
        wait_until_heard(name, "s4_1_end");
        EXPECT_EQ(number(row(name), "failures"), 0) << name;
        EXPECT_EQ(heard(name).size(), 10U) << name;
    }
}

TEST_F(ScarceHooks, WithoutProcessesTheyWaitAndAreRunWhenThereAreSome) {
    add_listener("ops", "\"session:end\"");
    start_with({.descriptors_max = {},
                .file_bytes_max = {},
                .refused_calls = {SYS_vfork},
                .refused_with = EAGAIN});
    live_and_die("s");

    daemon.wait_for_log("a hook cannot be started now: cannot run");
    EXPECT_THAT(text(client.must("node.status"), "degraded.0"),
                testing::HasSubstr("hooks wait to be started (1 in all)"));
    EXPECT_EQ(number(row("ops"), "failures"), 0);
    EXPECT_EQ(number(row("ops"), "waiting"), 0);

    start_with({});
    wait_until_heard("ops", "s_1_end");
    EXPECT_EQ(number(row("ops"), "failures"), 0);
}

}  // namespace
}  // namespace knell::functional
