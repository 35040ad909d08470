// Conversations that are summed up, through a real daemon: providers that hang, fail, or take their
// time while somebody goes on talking.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "functional/harness/routes.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Compressing : public WithRoutes {
  protected:
    void open(const std::string& yaml) {
        restart_with(yaml);
        session = text(route(), "session_id");
    }
    void say(std::string_view what, int tokens = 1) {
        client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,"messages":[
                        {{"role":"user","content":"{}","tokens":{}}}]}})",
                                                  session, what, tokens));
    }
    void take_a_turn() {
        client.must("turn.start", params());
        client.must("turn.end", params());
    }
    std::string params() const {
        return fmt::format(R"({{"session_id":"{}","generation":1}})", session);
    }
    std::vector<std::string> said_in(const std::string& id) {
        const auto shown =
            client.must("session.show", fmt::format(R"({{"session_id":"{}","messages":10}})", id));
        std::vector<std::string> contents;
        for (const auto& message : array(shown, "messages")) {
            contents.push_back(text(message, "content"));
        }
        return contents;
    }
    Json compressions(std::size_t count) {
        until([&] { return told("session:compress").size() >= count; }, "the compression");
        const auto all = told("session:compress");
        EXPECT_EQ(all.size(), count);
        return all.back();
    }
};

TEST_F(Compressing, AProviderThatHangsIsItsOwnFailure) {
    open(
        "summarizer:\n  providers:\n    - {name: hangs, command: [sleep, 1000], timeout: 1}\n"
        "    - {name: counts, command: [wc, -l], timeout: 30}\n");
    say("hello there");
    const auto done = client.must("session.compress", params());
    EXPECT_EQ(text(done, "outcome"), "compressed");
    EXPECT_EQ(text(done, "provider"), "counts");
}

TEST_F(Compressing, WhatIsSaidMeanwhileComesBehindTheSummary) {
    const auto begun = home.file("begun");
    const auto gate = home.file("gate");
    ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
    open(
        fmt::format("summarizer:\n  providers:\n    - {{name: slow, timeout: 30, command: "
                    "[sh, -c, 'wc -l; echo > {}; read x < {}']}}\n",
                    begun, gate));
    say("hello there");
    client.send(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.compress","params":{}}})"
                            "\n",
                            params()));
    until([&] { return !read_file(begun).empty(); }, "the provider");
    const auto first = std::exchange(client, Client(home.socket()));
    say("and one more thing");
    EXPECT_EQ(text(route(), "session_id"), session) << "it is written to as ever";
    write_file(gate, "go on\n");

    const auto told_once = compressions(1);

    const auto child = text(told_once, "child_id");
    EXPECT_EQ(text(told_once, "outcome"), "compressed");
    EXPECT_THAT(said_in(child), ElementsAre("1", "and one more thing"));
    EXPECT_THAT(said_in(session), ElementsAre("hello there", "and one more thing"));
    EXPECT_THAT(home.knell({"show", child}).out, HasSubstr(session)) << "its lineage";
}

TEST_F(Compressing, TheEndOfATurnStartsItPastSoManyTokens) {
    open(
        "summarizer:\n  at_tokens: 1000\n  providers: [{name: counts, command: [wc, -l], timeout: "
        "30}]\n");
    say("a long story", 999);
    take_a_turn();
    say("and its end", 1);
    EXPECT_EQ(told("session:compress").size(), 0U);
    take_a_turn();

    const auto child = text(compressions(1), "child_id");

    EXPECT_THAT(said_in(child), ElementsAre("2"));
    EXPECT_EQ(text(route(), "session_id"), child);
}

TEST_F(Compressing, AChangeOfTheConfigEndsACoolDown) {
    constexpr auto yaml =
        "summarizer:\n  at_tokens: 10\n  cool_down: 7d\n  providers: [{{name: {}, command: [{}], "
        "timeout: 30}}]\n";
    open(fmt::format(yaml, "broken", "false"));
    say("a long story", 20);
    take_a_turn();
    EXPECT_EQ(text(compressions(1), "outcome"), "failed");
    EXPECT_THAT(text(compressions(1), "detail"), HasSubstr("broken"));
    // Whoever asks is served all the same.
    EXPECT_EQ(text(client.must("session.compress", params()), "outcome"), "failed");
    EXPECT_EQ(text(compressions(2), "outcome"), "failed");
    EXPECT_EQ(text(show(session), "status"), "idle");

    configure(fmt::format(yaml, "counts", "wc, -l"));
    daemon.wait_for_log("config reloaded");
    take_a_turn();

    EXPECT_EQ(text(compressions(3), "outcome"), "compressed");
}

TEST_F(Compressing, WithoutASummaryTheTailGoesOnAndSaysSo) {
    open(
        "summarizer:\n  fallback: tail\n  tail_messages: 2\n  providers:\n"
        "    - {name: broken, command: ['false'], timeout: 30}\n");
    for (const auto* what : {"one", "two", "three"}) say(what);
    const auto done = client.must("session.compress", params());
    EXPECT_EQ(text(done, "outcome"), "tail");
    EXPECT_THAT(text(done, "why"), HasSubstr("broken"));
    const auto child = text(done, "child.session_id");
    EXPECT_THAT(said_in(child), ElementsAre("two", "three"));
    EXPECT_TRUE(at(show(child), "summary_lost").as_bool());
    EXPECT_THAT(said_in(session), ElementsAre("one", "two", "three"));
    EXPECT_EQ(text(compressions(1), "outcome"), "tail");
}

TEST_F(Compressing, ATailIsNotCutAgainAtTheNextTurn) {
    open(
        "summarizer:\n  at_tokens: 10\n  cool_down: 1h\n  fallback: tail\n  tail_messages: 2\n"
        "  providers:\n    - {name: broken, command: ['false'], timeout: 30}\n");
    for (int i = 0; i < 4; ++i) say("much", 20);
    take_a_turn();
    const auto child = text(compressions(1), "child_id");
    EXPECT_EQ(text(compressions(1), "outcome"), "tail");

    session = child;
    take_a_turn();
    // Whoever asks is served: by then the turn's own would have been under way.
    EXPECT_EQ(text(client.must("session.compress", params()), "outcome"), "tail");

    EXPECT_EQ(told("session:compress").size(), 2U);
}

TEST_F(Compressing, ATailOfFewMessagesIsTheLaterHalf) {
    open(
        "summarizer:\n  fallback: tail\n  providers:\n"
        "    - {name: broken, command: ['false'], timeout: 30}\n");
    say("one");
    EXPECT_EQ(text(client.must("session.compress", params()), "outcome"), "failed")
        << "of one message none can be left out";
    for (const auto* what : {"two", "three"}) say(what);
    const auto done = client.must("session.compress", params());
    EXPECT_EQ(text(done, "outcome"), "tail");
    EXPECT_THAT(said_in(text(done, "child.session_id")), ElementsAre("three"));
}

TEST_F(Compressing, ASummaryThatIsNoneChangesNothing) {
    open(
        "summarizer:\n  providers:\n    - {name: mute, command: ['true'], timeout: 30}\n"
        "    - {name: wordy, command: [sh, -c, 'yes word | head -c 1000'], timeout: 30}\n");
    say("hello there");
    const auto done = client.must("session.compress", params());
    EXPECT_EQ(text(done, "outcome"), "failed");
    EXPECT_THAT(text(done, "why"), AllOf(HasSubstr("mute"), HasSubstr("wordy")));
    EXPECT_THAT(said_in(session), ElementsAre("hello there"));
    EXPECT_EQ(text(route(), "session_id"), session);
}

TEST_F(Compressing, OneThatNobodyAskedForWaitsForTheEndOfATurn) {
    const auto begun = home.file("begun");
    const auto gate = home.file("gate");
    ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
    open(
        fmt::format("summarizer:\n  at_tokens: 10\n  providers:\n    - {{name: slow, timeout: 30, "
                    "command: [sh, -c, 'wc -l; echo > {}; read x < {}']}}\n",
                    begun, gate));
    say("hello there", 20);
    take_a_turn();
    until([&] { return !read_file(begun).empty(); }, "the provider");
    client.must("turn.start", params());
    write_file(gate, "go\n");
    until([&] { return daemon.log().contains("waits for the end of a turn"); }, "the summary");
    say("said in the turn");
    EXPECT_TRUE(told("session:compress").empty());
    client.must("turn.end", params());
    EXPECT_THAT(said_in(text(compressions(1), "child_id")),
                ::testing::Contains("said in the turn"));
}

}  // namespace
}  // namespace knell::functional
