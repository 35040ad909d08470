// A conversation that two forgotten preview servers kept from being reset for days, as it was
// reported, with its own config.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ResetStory : public WithRoutes {
  protected:
    void SetUp() override { gateway_.emplace(idle_process()); }

    /// Of the report, in a zone where it is that hour now.
    void live_where_it_is(int hour, std::string_view mode) {
        const auto utc = std::stoi(text(client.must("node.status"), "started_at").substr(11, 2));
        const auto east = (hour - utc + 24 + 11) % 24 - 11;
        restart_with(
            fmt::format("session_reset:\n  mode: {}\n  idle_minutes: 120\n  at: 6\n"
                        "  time_zone: Etc/GMT{:+}\n",
                        mode, -east));
    }
    /// A message; the gateway lives through it all.
    Json message() {
        return route(fmt::format(
            R"("platform":"telegram","chat_type":"dm","user_id":"42","owner":{{"pid":{}}})",
            gateway_->pid()));
    }
    Json start_server(std::string_view directory) {
        return start({"python3", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory",
                      std::string(directory)});
    }
    /// As if nobody had used them since then.
    void find_idle(const std::vector<Json>& servers) {
        EXPECT_EQ(daemon.terminate(), 0);
        for (const auto& server : servers) {
            edit(
                fmt::format("UPDATE processes SET activity = 'listening', activity_since = "
                            "started_at WHERE id = '{}'",
                            id_of(server)));
        }
        daemon.start();
        reconnect();
    }
    /// What `process_list` of `knell mcp` shows to an agent in that session.
    std::string agent_sees(const std::string& in) {
        auto mcp = home.command({"mcp"});
        mcp.environment["KNELL_SESSION_ID"] = in;
        const auto said = run_command(
            mcp,
            R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"
            "\n"
            R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"process_list","arguments":{}}})"
            "\n");
        const auto second = said.out.find('\n') + 1;
        const auto answer = parse(said.out.substr(second, said.out.find('\n', second) - second));
        EXPECT_FALSE(at(answer, "result.isError").is_bool() &&
                     at(answer, "result.isError").as_bool())
            << said.out;
        return text(answer, "result.content.0.text");
    }
    void expect_seen_by_all(const Json& server) {
        EXPECT_THAT(agent_sees(session), HasSubstr(id_of(server)));
        EXPECT_THAT(home.knell({"ps"}).out, HasSubstr(id_of(server)));
    }

    std::optional<Process> gateway_;
};

TEST_F(ResetStory, TwoServersThatNobodyStoppedDoNotKeepAConversation) {
    live_where_it_is(10, "both");
    session = text(message(), "session_id");
    client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
                    {{"role":"user","content":"show me the page","tokens":982000}}]}})",
                                              session));
    const auto downloads = start_server(home.path());
    const auto design = start_server("/");
    // 36 hours: from the evening of one day to the morning of the next but one, past two mornings.
    let_pass(36);

    const auto over = ended(session);

    EXPECT_EQ(text(over, "reason"), "idle_expiry");
    EXPECT_EQ(text(over, "proof"), "policy");
    EXPECT_EQ(told("session:end").size(), 1U);
    EXPECT_EQ(told("session:reset_deferred").size(), 0U) << "they hold nothing";
    const auto notices = told("notice", session);
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(text(notices[0], "session_key"), key);
    EXPECT_EQ(text(notices[0], "platform"), "telegram");
    EXPECT_EQ(text(notices[0], "user_id"), "42");
    EXPECT_EQ(array(notices[0], "processes").size(), 2U);
    for (const auto* server : {&downloads, &design}) {
        EXPECT_THAT(text(notices[0], "detail"),
                    AllOf(HasSubstr(id_of(*server)), HasSubstr("python3 -m http.server"),
                          HasSubstr(fmt::format("pid {}", pid_of(*server)))));
        EXPECT_TRUE(is_running(pid_of(*server)));
        expect_seen_by_all(*server);
    }

    // The short message that met 200,000 tokens.
    const auto next = message();
    EXPECT_TRUE(at(next, "new").as_bool());
    EXPECT_EQ(text(next, "auto_reset.prior_session_id"), session);
    EXPECT_EQ(text(next, "auto_reset.reason"), "idle");
    const auto fresh = show(text(next, "session_id"));
    EXPECT_EQ(number(fresh, "input_tokens"), 0);
    EXPECT_EQ(text(fresh, "parent_id"), session);
    EXPECT_EQ(text(fresh, "relation"), "reset");

    // An agent that begins anew is not told that nothing runs.
    for (const auto* server : {&downloads, &design}) {
        EXPECT_THAT(agent_sees(text(next, "session_id")), HasSubstr(id_of(*server)));
    }

    // And the command that the notice gives does what it says.
    const auto detail = text(notices[0], "detail");
    const auto command = detail.find("`knell stop ");
    ASSERT_NE(command, std::string::npos) << detail;
    const auto ids = detail.substr(command + 12, detail.find('`', command + 1) - command - 12);
    EXPECT_THAT(ids, AllOf(HasSubstr(id_of(downloads)), HasSubstr(id_of(design))));
    const auto first = ids.substr(0, ids.find(' '));
    const auto second = ids.substr(ids.find(' ') + 1);
    const auto stopped = home.knell({"stop", first, second, "--yes"});
    EXPECT_EQ(stopped.status, 0) << stopped.err;
    EXPECT_FALSE(is_running(pid_of(downloads)));
    EXPECT_FALSE(is_running(pid_of(design)));
}

TEST_F(ResetStory, SixInTheMorningPassesThoughTheyRun) {
    live_where_it_is(10, "daily");
    session = text(message(), "session_id");
    const auto server = start_server(home.path());
    let_pass(3);  // since seven
    find_idle({server});
    EXPECT_EQ(text(show(session), "status"), "idle");
    EXPECT_EQ(told("session:end").size(), 0U);
    const auto due = text(show(session), "next_reset_at");
    EXPECT_GT(due, text(client.must("node.status"), "started_at"));

    let_pass(9);  // since ten of the evening before

    EXPECT_EQ(text(ended(session), "reason"), "daily_reset");
    EXPECT_EQ(told("session:end").size(), 1U);
    ASSERT_EQ(told("notice", session).size(), 1U);
    EXPECT_THAT(text(told("notice", session)[0], "detail"), HasSubstr(id_of(server)));
    expect_seen_by_all(server);
    EXPECT_EQ(text(message(), "auto_reset.reason"), "daily");
}

TEST_F(ResetStory, AServerOfTodayHoldsNothingEither) {
    live_where_it_is(14, "idle");
    session = text(message(), "session_id");
    const auto server = start_server(home.path());
    let_pass(1);
    find_idle({server});
    EXPECT_EQ(text(show(session), "status"), "idle") << "the hour between is no gap";
    expect_seen_by_all(server);

    let_pass(2);

    EXPECT_EQ(text(ended(session), "reason"), "idle_expiry");
    EXPECT_EQ(told("session:reset_deferred").size(), 0U);
    EXPECT_THAT(home.knell({"why", session}).out, HasSubstr("do not hold it: " + id_of(server)));
}

TEST_F(ResetStory, WhatIsKeptGoesOnInTheConversationThatFollows) {
    live_where_it_is(14, "idle");
    configure(read_file(home.file("config.yaml")) + "  on_reset: keep\n");
    session = text(message(), "session_id");
    const auto server = start_server(home.path());
    let_pass(26);
    ended(session);
    EXPECT_EQ(told("notice", session).size(), 0U);

    const auto next = text(message(), "session_id");

    EXPECT_EQ(text(row(id_of(server)), "session_id"), next);
    EXPECT_THAT(agent_sees(next), HasSubstr(id_of(server)));
    EXPECT_TRUE(is_running(pid_of(server)));
}

}  // namespace
}  // namespace knell::functional
