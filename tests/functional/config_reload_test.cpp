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

}  // namespace
}  // namespace knell::functional
