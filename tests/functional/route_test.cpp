// Messages for keys, through a real daemon: gateways that crash, conversations that are reset, and
// what runs in them.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Routing : public WithRoutes {};

TEST_F(Routing, OneSessionForAKeyWhoeverAsksAtOnce) {
    Client other(home.socket());
    for (auto* one : {&client, &other}) {
        one->send(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.route","params":{}}})",
                              route_params()) +
                  "\n");
    }
    const auto first = client.read_answer();
    const auto second = other.read_answer();
    ASSERT_TRUE(first.ok() && second.ok()) << first.message() << second.message();
    EXPECT_EQ(text(first.result(), "session_id"), text(second.result(), "session_id"));
    EXPECT_NE(at(first.result(), "new").as_bool(), at(second.result(), "new").as_bool());
}

TEST_F(Routing, AGatewayThatIsKilledGoesOnWhereItWas) {
    auto gateway = idle_process();
    const auto first = route(fmt::format(R"("owner":{{"pid":{}}})", gateway.pid()));
    EXPECT_EQ(client.call("session.route", route_params()).kind(), "owned");
    gateway.signal(SIGKILL);
    gateway.wait();

    const auto next = route();

    EXPECT_EQ(text(next, "session_id"), text(first, "session_id"));
    EXPECT_TRUE(at(next, "resumed").as_bool());
    EXPECT_FALSE(at(next, "new").as_bool());
    EXPECT_THAT(story_of(client, text(first, "session_id")),
                ElementsAre("session:start 1", "session:end 1", "session:start 2"));
}

TEST_F(Routing, ATitleOfAPersonOutlivesTheGateway) {
    auto gateway = idle_process();
    const auto titled = fmt::format(R"("title":"telegram 42","owner":{{"pid":{}}})", gateway.pid());
    const auto id = text(route(titled), "session_id");
    client.must("session.title", fmt::format(R"({{"session_id":"{}","title":"the move"}})", id));
    gateway.signal(SIGKILL);
    gateway.wait();

    const auto next = route(R"("title":"telegram 42")");

    EXPECT_TRUE(at(next, "resumed").as_bool());
    EXPECT_EQ(text(show(id), "title"), "the move");
}

TEST_F(Routing, WhatSomebodySaidIsOnRecordAfterACrash) {
    route();
    const auto id = text(route(), "session_id");
    const auto before = text(show(id), "last_interaction_at");
    const auto again = [&] {
        route();
        return text(show(id), "last_interaction_at") > before;
    };
    until(again, "a message to be written down");
    daemon.kill9();
    daemon.start();
    reconnect();
    EXPECT_GT(text(show(id), "last_interaction_at"), before);
}

/// Two servers of days ago, an idle gap of 36 hours and a daemon that was down over it.
TEST_F(Routing, ServersOfLongAgoNeitherHoldAResetNorAreForgotten) {
    configure(
        "session_reset:\n  mode: both\n  idle_minutes: 1440\n  at: \"06:00\"\n"
        "  time_zone: Europe/Berlin\n");
    daemon.restart();
    reconnect();
    session = text(route(R"("platform":"telegram","user_id":"42")"), "session_id");
    EXPECT_FALSE(text(show(session), "next_reset_at").empty());
    const auto one = start({"python3", "-m", "http.server", "--bind", "127.0.0.1", "0"});
    const auto two = start({"python3", "-m", "http.server", "--bind", "127.0.0.1", "0"});
    let_pass(36);

    until([&] { return text(show(session), "status") == "ended"; }, "the reset");

    const auto ended = show(session);
    EXPECT_THAT(text(ended, "reason"), ::testing::AnyOf("idle_expiry", "daily_reset"));
    EXPECT_EQ(text(ended, "proof"), "policy");
    std::vector<Json> notices;
    for (auto& notice : told("notice")) {
        if (text(notice, "session_id") == session) notices.push_back(std::move(notice));
    }
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(text(notices[0], "session_key"), key);
    EXPECT_EQ(text(notices[0], "platform"), "telegram");
    EXPECT_EQ(text(notices[0], "user_id"), "42");
    EXPECT_THAT(text(notices[0], "detail"),
                AllOf(HasSubstr(id_of(one)), HasSubstr(id_of(two)), HasSubstr("knell stop")));
    EXPECT_EQ(array(notices[0], "processes").size(), 2U);
    EXPECT_THAT(home.knell({"ps"}).out, AllOf(HasSubstr(id_of(one)), HasSubstr(id_of(two))));

    const auto next = route();
    EXPECT_TRUE(at(next, "new").as_bool());
    EXPECT_EQ(text(next, "auto_reset.prior_session_id"), session);
    EXPECT_EQ(text(show(text(next, "session_id")), "parent_id"), session);
    EXPECT_EQ(text(show(text(next, "session_id")), "relation"), "reset");
}

TEST_F(Routing, WorkHoldsAResetAndIsNamedToEverybody) {
    configure("session_reset:\n  mode: idle\n  idle_minutes: 60\n");
    daemon.restart();
    reconnect();
    session = text(route(), "session_id");
    const auto busy = start({"dd", "if=/dev/zero", "of=/dev/null"});
    let_pass(2);

    until([&] { return !told("session:reset_deferred").empty(); }, "the reset to be deferred");

    EXPECT_EQ(text(told("session:reset_deferred")[0], "blockers.0.process_id"), id_of(busy));
    EXPECT_EQ(number(show(session), "reset.held.blockers.0.pid"), pid_of(busy));
    EXPECT_THAT(home.knell({"why", session}).out, HasSubstr(id_of(busy)));
    const auto found = route();
    EXPECT_EQ(text(found, "session_id"), session);
    EXPECT_EQ(text(found, "deferred.blockers.0.process_id"), id_of(busy));

    const auto blocked = client.call("session.reset", fmt::format(R"({{"key":"{}"}})", key));
    EXPECT_EQ(blocked.kind(), "blocked");
    EXPECT_EQ(text(blocked.whole, "error.data.blockers.0.process_id"), id_of(busy));
    const auto forced =
        client.must("session.reset", fmt::format(R"({{"key":"{}","force":true}})", key));
    EXPECT_EQ(text(forced, "reason"), "manual_reset");
}

TEST_F(Routing, ABranchAndASuspendedKey) {
    const auto first = text(route(), "session_id");
    client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
                    {{"role":"user","content":"hello"}}]}})",
                                              first));
    const auto child = client.must("session.branch",
                                   fmt::format(R"({{"session_id":"{}","generation":1}})", first));
    EXPECT_EQ(text(show(first), "reason"), "branched");
    EXPECT_EQ(number(show(text(child, "session_id")), "message_count"), 1);
    EXPECT_EQ(text(route(), "session_id"), text(child, "session_id"));

    client.must("session.suspend", fmt::format(R"({{"key":"{}","why":"stuck"}})", key));
    const auto next = route();
    EXPECT_EQ(text(next, "auto_reset.reason"), "suspended");
    EXPECT_EQ(text(show(text(child, "session_id")), "detail"), "suspended");
}

TEST_F(Routing, ACompressionByTheFirstProviderThatAnswers) {
    configure(
        "summarizer:\n  providers:\n"
        "    - {name: broken, command: [sh, -c, 'echo cannot >&2; exit 3'], timeout: 30}\n"
        "    - {name: short, command: [sh, -c, 'wc -l'], timeout: 30}\n");
    daemon.restart();
    reconnect();
    const auto parent = text(route(), "session_id");
    client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
                    {{"role":"user","content":"hello there"}},
                    {{"role":"assistant","content":"and to you"}}]}})",
                                              parent));
    const auto done = client.must("session.compress",
                                  fmt::format(R"({{"session_id":"{}","generation":1}})", parent));
    EXPECT_EQ(text(done, "outcome"), "compressed");
    EXPECT_EQ(text(done, "provider"), "short");
    const auto child = text(done, "child.session_id");
    EXPECT_EQ(text(show(child), "relation"), "compression");
    const auto shown =
        client.must("session.show", fmt::format(R"({{"session_id":"{}","messages":10}})", child));
    EXPECT_EQ(text(shown, "messages.0.content"), "2");
    EXPECT_EQ(text(route(), "session_id"), child);
    const auto late =
        client.call("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
            {{"role":"user","content":"late"}}]}})",
                                                  parent));
    EXPECT_EQ(late.kind(), "ended");
    EXPECT_EQ(text(late.whole, "error.data.successor"), child);
}

/// Ends that only other parts of a fleet, or an import, put on record.
TEST_F(Routing, ALostNodesAndAnImportedConversationGoOn) {
    for (const std::string reason : {"node_lost", "imported"}) {
        const auto id = text(route({}, reason), "session_id");
        client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
        EXPECT_EQ(daemon.terminate(), 0);
        edit(fmt::format("UPDATE sessions SET reason = '{}', proof = 'inferred' WHERE id = '{}'",
                         reason, id));
        daemon.start();
        reconnect();
        const auto again = route({}, reason);
        EXPECT_EQ(text(again, "session_id"), id) << reason;
        EXPECT_TRUE(at(again, "resumed").as_bool()) << reason;
    }
}

TEST_F(Routing, AFailedCompressionChangesNothing) {
    configure(
        "summarizer:\n  providers:\n"
        "    - {name: broken, command: [sh, -c, 'echo cannot >&2; exit 3'], timeout: 30}\n");
    daemon.restart();
    reconnect();
    const auto id = text(route(), "session_id");
    client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
                    {{"role":"user","content":"hello there"}}]}})",
                                              id));
    const auto done =
        client.must("session.compress", fmt::format(R"({{"session_id":"{}","generation":1}})", id));
    EXPECT_EQ(text(done, "outcome"), "failed");
    EXPECT_THAT(text(done, "why"), AllOf(HasSubstr("broken"), HasSubstr("cannot")));
    EXPECT_EQ(text(show(id), "status"), "idle");
    ASSERT_EQ(told("session:compress").size(), 1U);
    EXPECT_EQ(text(told("session:compress")[0], "outcome"), "failed");
}

/// The gateway of the docs: it comes and goes, and a person asks for a new conversation.
TEST_F(Routing, TheExampleGatewayGoesOnWhereItWas) {
    const auto deliver = [&](std::string_view lines) {
        const auto said = run_command({.argv = {"python3", "gateway.py"},
                                       .environment = home.environment(),
                                       .cwd = KNELL_EXAMPLES_DIR},
                                      lines);
        EXPECT_EQ(said.status, 0) << said.err;
        return said.out;
    };
    EXPECT_EQ(deliver("chat:42 hello\nchat:7 other\nchat:42 again\n"),
              "chat:42 message 1 of this conversation was: hello\n"
              "chat:7 message 1 of this conversation was: other\n"
              "chat:42 message 3 of this conversation was: again\n");
    EXPECT_EQ(deliver("chat:42 back\n"),
              "chat:42 * going on where we were\n"
              "chat:42 message 5 of this conversation was: back\n");
    EXPECT_EQ(home.knell({"reset", "chat:42", "--yes"}).status, 0);
    EXPECT_EQ(deliver("chat:42 anew\n"),
              "chat:42 * a new conversation (suspended)\n"
              "chat:42 message 1 of this conversation was: anew\n");

    // Killed with a message answered and the next one on its way; then a day passes.
    Pipe lines;
    Pipe answers;
    auto gateway = home.command({});
    gateway.argv = {"python3", "gateway.py"};
    gateway.cwd = KNELL_EXAMPLES_DIR;
    gateway.in = lines.reading.get();
    gateway.out = answers.writing.get();
    Process killed(gateway);
    ASSERT_GT(::write(lines.writing.get(), "chat:7 more\n", 12), 0);
    std::string said;
    until([&] { return read_available(answers.reading.get(), said) && said.ends_with("more\n"); },
          "the gateway to answer");
    killed.signal(SIGKILL);
    killed.wait();
    EXPECT_EQ(deliver("chat:7 last\n"),
              "chat:7 * going on where we were\n"
              "chat:7 message 5 of this conversation was: last\n");
    EXPECT_EQ(daemon.terminate(), 0);
    edit(
        "UPDATE sessions SET last_interaction_at = coalesce(last_interaction_at, last_activity_at) "
        "- 86400000");
    configure("session_reset: {mode: idle, idle_minutes: 60}\n");
    const auto nobody = run_command({.argv = {"python3", "gateway.py"},
                                     .environment = home.environment(),
                                     .cwd = KNELL_EXAMPLES_DIR},
                                    "chat:7 hello\n");
    EXPECT_EQ(nobody.status, 1);
    EXPECT_THAT(nobody.err, AllOf(HasSubstr("Start the daemon with: knell up --detach"),
                                  Not(HasSubstr("Traceback"))));
    daemon.start();
    reconnect();
    EXPECT_EQ(deliver("chat:7 tomorrow\n"),
              "chat:7 * a new conversation (idle)\n"
              "chat:7 message 1 of this conversation was: tomorrow\n");
}

}  // namespace
}  // namespace knell::functional
