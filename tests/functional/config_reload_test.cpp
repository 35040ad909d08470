// A config.yaml that is written while the daemon runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::Not;

class ConfigReload : public WithOwners {};

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
    EXPECT_THAT(trouble, HasSubstr("config.yaml cannot be used: $KNELL_HOME/config.yaml:3:3: "));
    EXPECT_THAT(trouble, HasSubstr("no session is reset"));
    EXPECT_EQ(client.must("node.status").at("healthy"), Json(false));
    const auto status = home.knell({"status"});
    EXPECT_EQ(status.status, 1);
    EXPECT_THAT(status.out, HasSubstr("config.yaml cannot be used"));
    const auto unread =
        "the default (session_reset in config.yaml cannot be used; `knell status` says why)";
    EXPECT_EQ(text(show(session), "reset.policy"), unread);
    EXPECT_THAT(home.knell({"why", session}).out, HasSubstr("config.yaml cannot be used"));

    write_file(home.file("config.yaml"), "session_reset:\n  mode: idle\n  idle_minutes: 3\n");
    daemon.wait_for_log("config reloaded: ");
    EXPECT_TRUE(array(client.must("node.status"), "degraded").empty());
    EXPECT_EQ(client.must("node.status").at("healthy"), Json(true));
    EXPECT_EQ(home.knell({"status"}).status, 0);
    EXPECT_EQ(text(show(session), "reset.policy"), "session_reset");
}

TEST_F(ConfigReload, AtTheStartANoticeIsToldOfABadFile) {
    write_file(home.file("config.yaml"), "http:\n  lisen: here\n");
    daemon.restart();
    client = Client(home.socket());
    home.knell({"reload"});

    std::vector<std::string> notices;
    const auto is_told = [&] {
        for (const auto& event : all_events(client)) {
            if (text(event, "type") == "notice") notices.push_back(text(event, "detail"));
        }
        return !notices.empty();
    };
    until(is_told, "the notice");

    EXPECT_THAT(notices, testing::ElementsAre(HasSubstr(
                             "config.yaml cannot be used: $KNELL_HOME/config.yaml:2:3: http.lisen: "
                             "there is no such key; did you mean \"listen\"?; until it is "
                             "repaired HTTP is off")));
}

TEST_F(ConfigReload, WhatIsRightHoldsBesideWhatIsWrong) {
    write_file(home.file("config.yaml"),
               "http: {lisen: here}\n"
               "session_reset: {mode: idle, idle_minutes: 3}\n"
               "webhooks:\n"
               "  - {name: right, url: 'http://127.0.0.1:9/', secret_env: S}\n"
               "  - {name: wrong, url: 'ftp://127.0.0.1:9/', secret_env: S}\n");
    daemon.restart();
    client = Client(home.socket());

    const auto session =
        text(client.must("session.route", R"({"key":"k","source":"gateway"})"), "session_id");
    EXPECT_EQ(text(show(session), "reset.policy"), "session_reset");
    client.must("node.reload");
    std::vector<std::string> names;
    for (const auto& hook : array(client.must("hooks.list"), "hooks")) {
        names.push_back(text(hook, "name"));
    }
    EXPECT_THAT(names, testing::ElementsAre("right"));
    EXPECT_THAT(text(client.must("node.status"), "degraded.0"),
                HasSubstr("HTTP is off, but for what --http says, webhook wrong is off"));
}

TEST_F(ConfigReload, AWebhookThatIsOffKeepsItsPlace) {
    const std::string right =
        "webhooks:\n  - {name: ops, url: 'http://127.0.0.1:9/', secret_env: S}\n";
    write_file(home.file("config.yaml"), right);
    EXPECT_EQ(home.knell({"reload"}).status, 0);
    create();
    client.must("hooks.pause", R"({"name":"ops"})");
    const auto place = [&] { return text(client.must("hooks.list"), "hooks.0.state"); };
    EXPECT_EQ(place(), "paused");

    write_file(home.file("config.yaml"),
               "webhooks:\n  - {name: ops, url: 'ftp://127.0.0.1:9/', secret_env: S}\n");
    daemon.restart();
    client = Client(home.socket());
    client.must("node.reload");
    EXPECT_EQ(place(), "absent");

    write_file(home.file("config.yaml"), right);
    EXPECT_EQ(home.knell({"reload"}).status, 0);
    EXPECT_EQ(place(), "paused");
}

TEST_F(ConfigReload, AnAddressGivenByHandDoesNotKeepItFromStarting) {
    write_file(home.file("config.yaml"), "http:\n  behind_prxy: true\n");
    daemon.terminate();

    const auto up = home.knell({"up", "--detach", "--http", "0.0.0.0:0"});

    EXPECT_EQ(up.status, 0) << up.err;
    client = Client(home.socket());
    EXPECT_EQ(client.must("node.status").as_object().count("http"), 0U);
    EXPECT_EQ(home.knell({"down"}).status, 0);
}

TEST_F(ConfigReload, OnRequestSaysWhatChangedOrWhyNot) {
    write_file(home.file("config.yaml"), "events: {keep_days: 7}\n");
    const auto taken = home.knell({"reload"});
    EXPECT_EQ(taken.status, 0);
    EXPECT_EQ(taken.out, "config.yaml is in force:\n  events.keep_days 30 -> 7\n")
        << "also when the daemon had noticed by itself";
    EXPECT_THAT(home.knell({"reload"}).out, HasSubstr("nothing in it has changed"));

    write_file(home.file("config.yaml"), "events: {keep_days: soon}\n");
    const auto refused = home.knell({"reload"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.out, HasSubstr("$KNELL_HOME/config.yaml:1:10: error: events.keep_days: "));
    EXPECT_THAT(refused.out, HasSubstr("what was read before holds"));
    const auto result = client.must("node.reload");
    EXPECT_EQ(result.at("reloaded"), Json(false));
    EXPECT_EQ(text(result, "problems.0.path"), "events.keep_days");
    EXPECT_EQ(text(result, "problems.0.level"), "error");
    EXPECT_THAT(text(client.must("node.status"), "degraded.0"),
                HasSubstr("what was read before holds"));
}

TEST_F(ConfigReload, StrictlyItDoesNotStartWithABadFile) {
    write_file(home.file("config.yaml"), "events: {keep_day: 7}\nhttp: {lisen: here}\n");
    daemon.terminate();

    for (const auto& how : {std::vector<std::string>{"up", "--strict"},
                            std::vector<std::string>{"up", "--detach", "--strict"}}) {
        const auto refused = home.knell(how);
        EXPECT_EQ(refused.status, 1);
        EXPECT_THAT(refused.err, HasSubstr("$KNELL_HOME/config.yaml:1:10: events.keep_day: "));
        EXPECT_THAT(refused.err, HasSubstr("$KNELL_HOME/config.yaml:2:8: http.lisen: "));
    }
    write_file(home.file("config.yaml"), "session_reset: {mode: daily}\n");
    EXPECT_EQ(home.knell({"up", "--detach", "--strict"}).status, 0) << "a warning is no error";
    EXPECT_EQ(home.knell({"down"}).status, 0);
}

TEST_F(ConfigReload, ShowsWhatTheDaemonWasTold) {
    daemon.terminate();
    ASSERT_EQ(home.knell({"up", "--detach", "--http", "127.0.0.1:0"}).status, 0);

    EXPECT_THAT(home.knell({"config", "show"}).out,
                testing::ContainsRegex("http.listen +127.0.0.1:0 +knell up --http"));
    EXPECT_EQ(home.knell({"down"}).status, 0);
    EXPECT_THAT(home.knell({"config", "show"}).out,
                testing::ContainsRegex("http.listen +127.0.0.1:7717 +default"));
}

TEST_F(ConfigReload, FilesAreCheckedForWhoeverAsks) {
    write_file(home.file("new.yaml"), "events: {keep_day: 7}\n");
    const auto by_file =
        client.must("config.check", R"({"file":")" + home.file("new.yaml") + R"("})");
    EXPECT_EQ(text(by_file, "problems.0.hint"), "did you mean \"keep_days\"?");
    const auto by_text =
        client.must("config.check", R"({"text":"fallback_providers: [a]\n","hermes":true})");
    EXPECT_EQ(text(by_text, "problems.0.path"), "fallback_providers[1]");
    EXPECT_EQ(client.must("config.check").at("ok"), Json(true)) << "its own";
}

}  // namespace
}  // namespace knell::functional
