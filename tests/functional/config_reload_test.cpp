// A config.yaml that is written while the daemon runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::Not;

class ConfigReload : public WithDaemon {};

TEST_F(ConfigReload, TellsInTheLogWhatChanged) {
    client.must("hooks.list");
    write_file(home.file("config.yaml"), "events:\n  keep_days: 7d\n");
    daemon.wait_for_log("config reloaded: events.keep_days 30 -> 7");
    write_file(home.file("config.yaml"),
               "events:\n  keep_days: 7\nwebhooks:\n  - name: ops\n"
               "    url: https://example.org/T0K3N\n    events: notice\n    secret_env: S\n");
    daemon.wait_for_log("config reloaded: webhook ops added");

    write_file(home.file("config.yaml"), "");

    daemon.wait_for_log("config reloaded: events.keep_days 7 -> 30; webhook ops removed");
    EXPECT_THAT(daemon.log(), Not(HasSubstr("T0K3N")));
}

TEST_F(ConfigReload, ADaemonThatStartsWithABadFileSaysWhatIsOffUntilItIsRepaired) {
    write_file(home.file("config.yaml"), "session_reset:\n  mode: idle\n  idle_minuts: 3\n");
    daemon.restart();
    client = Client(home.socket());
    const auto session =
        text(client.must("session.route", R"({"key":"k","source":"gateway"})"), "session_id");

    const auto trouble = text(client.must("node.status"), "degraded.0");
    EXPECT_THAT(trouble, HasSubstr("config.yaml cannot be used: "));
    EXPECT_THAT(trouble, HasSubstr("config.yaml:3:3: "));
    EXPECT_THAT(trouble, HasSubstr("no session is reset"));
    EXPECT_THAT(home.knell({"status"}).out, HasSubstr("config.yaml cannot be used"));
    const auto unread = "the default (config.yaml cannot be used; `knell status` says why)";
    EXPECT_EQ(text(show(session), "reset.policy"), unread);
    EXPECT_THAT(home.knell({"why", session}).out, HasSubstr("config.yaml cannot be used"));

    write_file(home.file("config.yaml"), "session_reset:\n  mode: idle\n  idle_minutes: 3\n");
    daemon.wait_for_log("config reloaded: ");
    EXPECT_TRUE(array(client.must("node.status"), "degraded").empty());
    EXPECT_EQ(text(show(session), "reset.policy"), "session_reset");
}

}  // namespace
}  // namespace knell::functional
