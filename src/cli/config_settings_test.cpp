#include "cli/config_settings.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"

namespace knell::cli {
namespace {

std::vector<Setting> settings(std::string_view text) {
    return parse_config(text, "/k/config.yaml", "/home/ann").value().settings;
}

constexpr auto with_webhook =
    "events: {keep_days: 7}\n"
    "webhooks:\n"
    "  - name: ops\n"
    "    url: https://example.org/T0K3N\n"
    "    secret_file: ops.secret\n";

TEST(ConfigSettings, TellEachKeyWithItsOrigin) {
    EXPECT_EQ(
        settings_table(settings(with_webhook), "/k/config.yaml", {}),
        "KEY                            VALUE                                     FROM\n"
        "events.keep_days               7 days                                    config.yaml:1\n"
        "events.keep_count              10000000                                  default\n"
        "http.listen                    127.0.0.1:7717                            default\n"
        "http.hosts                     none                                      default\n"
        "http.behind_proxy              false                                     default\n"
        "http.trusted_network           false                                     default\n"
        "http.allow_processes           false                                     default\n"
        "http.detach_window             10m                                       default\n"
        "http.turn_window               6h                                        default\n"
        "processes.per_session          64                                        default\n"
        "processes.max                  4096                                      default\n"
        "processes.output_bytes         1048576                                   default\n"
        "processes.stale_after          30m                                       default\n"
        "session_reset.mode             none                                      default\n"
        "session_reset.idle_minutes     1440                                      default\n"
        "session_reset.at               04:00                                     default\n"
        "session_reset.time_zone        local                                     default\n"
        "session_reset.process_max_age  1d                                        default\n"
        "session_reset.on_reset         warn                                      default\n"
        "guard.errors                   3                                         default\n"
        "guard.same_call                3                                         default\n"
        "guard.same_tool                12                                        default\n"
        "guard.normal_tools             Bash, Read, Edit, Write, shell, terminal  default\n"
        "guard.cycle                    4                                         default\n"
        "guard.breaker                  advise                                    default\n"
        "guard.cool_down                1m                                        default\n"
        "summarizer.at_tokens           0                                         default\n"
        "summarizer.fallback            keep                                      default\n"
        "summarizer.tail_messages       20                                        default\n"
        "summarizer.cool_down           10m                                       default\n"
        "webhooks                       ops                                       config.yaml:2\n"
        "webhooks[ops].name             ops                                       config.yaml:3\n"
        "webhooks[ops].url              https://example.org/...                   config.yaml:4\n"
        "webhooks[ops].events           *                                         default\n"
        "webhooks[ops].secret_file      /k/ops.secret                             config.yaml:5\n"
        "webhooks[ops].allow_internal   false                                     default\n"
        "webhooks[ops].timeout          15s                                       default\n"
        "webhooks[ops].concurrency      1                                         default\n"
        "space.gateways                 none                                      default\n"
        "session_reset.overrides        none                                      default\n"
        "summarizer.providers           none                                      default\n");
}

TEST(ConfigSettings, AreForProgramsToo) {
    const auto json = wire::to_text(settings_json(settings(with_webhook)));

    EXPECT_TRUE(json.starts_with(
        R"([{"key":"events.keep_days","value":7,"unit":"days","from":"file","line":1,"column":10},)"
        R"({"key":"events.keep_count","value":10000000,"from":"default"},)"))
        << json;
    EXPECT_FALSE(json.contains("T0K3N"));
}

}  // namespace
}  // namespace knell::cli
