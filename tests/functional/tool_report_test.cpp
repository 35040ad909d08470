// What agents report of their tools' calls, through a real daemon: the nudge, what is on record of
// it, who is refused, and that nothing is lost or counted twice.

#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ToolReports : public WithOwners {
  protected:
    Json report(std::string_view fields, std::string_view session = "s") {
        return client.must("tool.report", fmt::format(R"({{"session_id":"{}","generation":1,{}}})",
                                                      session, fields));
    }
    /// A call that failed; "errors advice 3", or "" where nothing was said.
    std::string fail(std::string_view tool = "Bash") {
        return said(report(fmt::format(R"("tool":"{}","ok":false,"error":"no such file")", tool)));
    }
    static std::string said(const Json& reply) {
        if (at(reply, "nudge").is_null()) return {};
        return fmt::format("{} {} {}", text(reply, "nudge.kind"), text(reply, "nudge.level"),
                           number(reply, "nudge.streak"));
    }
    Json why(std::string_view session = "s") {
        return client.must("session.why", fmt::format(R"({{"session_id":"{}"}})", session));
    }
    std::vector<Json> stuck_events() {
        std::vector<Json> found;
        for (auto& event : all_events(client)) {
            if (text(event, "type") == "agent:stuck") found.push_back(std::move(event));
        }
        return found;
    }
};

TEST_F(ToolReports, ErrorsInARowAreNudgedAndOnRecord) {
    create(R"({"id":"s","source":"claude-code"})");
    std::vector<std::string> nudges;
    for (int i = 0; i < 12; ++i) nudges.push_back(fail());

    EXPECT_THAT(nudges,
                ElementsAre("", "", "errors advice 3", "", "", "errors warning 6", "", "",
                            "errors stop_and_rethink 9", "", "", "errors stop_and_rethink 12"));
    const auto events = stuck_events();
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(text(events[2], "level"), "stop_and_rethink");
    EXPECT_EQ(text(events[2], "kind"), "errors");
    EXPECT_EQ(number(events[2], "streak"), 9);
    EXPECT_EQ(text(events[2], "tool"), "Bash");
    EXPECT_EQ(text(events[2], "error"), "no such file");
    EXPECT_THAT(text(events[2], "detail"), HasSubstr("Stop and rethink"));

    const auto known = why();
    EXPECT_EQ(number(known, "guard.errors"), 12);
    EXPECT_EQ(text(known, "guard.nudge.level"), "stop_and_rethink");
    EXPECT_EQ(text(known, "guard.breaker.state"), "closed");
    EXPECT_THAT(home.knell({"why", "s"}).out, HasSubstr("12 in a row have failed"));
    EXPECT_THAT(home.knell({"events", "--type", "agent:stuck"}).out, HasSubstr("warning: 6 tool"));
    const auto status = client.must("node.status");
    EXPECT_EQ(number(status, "tools.reports"), 12);
    EXPECT_EQ(number(status, "tools.errors"), 12);
    EXPECT_EQ(number(status, "tools.nudges.advice"), 1);
    EXPECT_EQ(number(status, "tools.nudges.stop_and_rethink"), 2);
}

TEST_F(ToolReports, AreOfTheSessionAcrossTurnsAndOwners) {
    create(R"({"id":"s","source":"cli","owner":{"lease_ttl_s":60}})");
    client.must("turn.start", R"({"session_id":"s","generation":1})");
    fail();
    client.must("turn.end", R"({"session_id":"s","generation":1})");
    client.must("turn.start", R"({"session_id":"s","generation":1})");
    fail();
    client.must("session.resume",
                R"({"session_id":"s","owner":{"lease_ttl_s":60},"takeover":true})");

    const auto stale =
        client.call("tool.report", R"({"session_id":"s","generation":1,"tool":"Bash","ok":false})");
    const auto current =
        client.must("tool.report", R"({"session_id":"s","generation":2,"tool":"Bash","ok":false})");

    EXPECT_EQ(stale.code(), -32003);
    EXPECT_EQ(said(current), "errors advice 3") << "and the stale one was not counted";
}

TEST_F(ToolReports, OfWhatHasEndedAreRefused) {
    create(R"({"id":"s","source":"cli"})");
    fail();
    fail();
    client.must("session.close", R"({"session_id":"s"})");
    const auto* one = R"({"session_id":"s","generation":1,"tool":"Bash","ok":false})";
    EXPECT_EQ(client.call("tool.report", one).code(), -32005);
    EXPECT_EQ(client.call("tool.check", R"({"session_id":"s","generation":1,"tool":"A"})").code(),
              -32005);
    EXPECT_EQ(
        client.call("tool.report", R"({"session_id":"nobody","generation":1,"tool":"A","ok":true})")
            .code(),
        -32001);
    // Opened again it begins anew.
    client.must("session.resume", R"({"session_id":"s"})");
    const auto again =
        client.must("tool.report", R"({"session_id":"s","generation":2,"tool":"Bash","ok":false})");
    EXPECT_EQ(said(again), "");
}

TEST_F(ToolReports, TheSameCallIsKnownByItsArgumentsAndItsResult) {
    create(R"({"id":"s","source":"cli"})");
    const auto call = [&](std::string_view args, std::string_view result) {
        return said(report(
            fmt::format(R"("tool":"Read","ok":true,"args":{},"result_hash":"{}")", args, result)));
    };
    EXPECT_EQ(call(R"({"path":"a","line":1})", "x"), "");
    EXPECT_EQ(call(R"({"line":1,"path":"a"})", "x"), "");
    EXPECT_EQ(call(R"({"line":1.0,"path":"a"})", "y"), "") << "another result";
    EXPECT_EQ(call(R"({"line":1,"path":"a"})", "y"), "");
    EXPECT_EQ(call(R"({"line":1,"path":"a"})", "y"), "same_call advice 3");
}

TEST_F(ToolReports, ManyAtOnceAreTakenInOrder) {
    create(R"({"id":"s","source":"cli"})");
    create(R"({"id":"t","source":"cli"})");
    const auto reply = client.must(
        "tool.report",
        R"({"session_id":"s","generation":1,"reports":[{"tool":"A","ok":false},{"tool":"A","ok":true},
            {"tool":"A","ok":false},{"tool":"B","ok":false},{"tool":"C","ok":false,"error":"x"}]})");
    EXPECT_EQ(number(reply, "recorded"), 5);
    EXPECT_EQ(said(reply), "errors advice 3");
    EXPECT_EQ(array(reply, "nudges").size(), 1U);

    const auto of_many = client.must(
        "tool.report", R"({"reports":[{"session_id":"s","generation":1,"tool":"A","ok":true},
            {"session_id":"t","generation":2,"tool":"A","ok":true},
            {"session_id":"nobody","generation":1,"tool":"A","ok":true}]})");
    EXPECT_EQ(number(of_many, "recorded"), 1);
    EXPECT_EQ(text(of_many, "fenced.0"), "t");
    EXPECT_EQ(text(of_many, "ended.0"), "nobody");
    const auto of_one = client.call(
        "tool.report", R"({"reports":[{"session_id":"t","generation":2,"tool":"A","ok":true}]})");
    EXPECT_EQ(of_one.code(), -32003);
}

TEST_F(ToolReports, WhatIsMissingIsNamed) {
    const auto field = [&](std::string_view params) {
        return client.call("tool.report", params).field();
    };
    EXPECT_EQ(field(R"({"generation":1,"tool":"A","ok":true})"), "session_id");
    EXPECT_EQ(field(R"({"session_id":"s","tool":"A","ok":true})"), "generation");
    EXPECT_EQ(field(R"({"session_id":"s","generation":1,"ok":true})"), "tool");
    EXPECT_EQ(field(R"({"session_id":"s","generation":1,"tool":"A"})"), "ok");
    EXPECT_EQ(field(R"({"reports":[]})"), "reports");
    EXPECT_EQ(field(R"({"reports":[{"tool":"A","ok":true}]})"), "reports[0].session_id");
    EXPECT_EQ(field(R"({"session_id":"s","generation":1,"reports":[{"tool":"A"}]})"),
              "reports[0].ok");
}

TEST_F(ToolReports, SixtyFourAtOnceLoseNoneAndCountNoneTwice) {
    create(R"({"id":"s","source":"cli"})");
    constexpr int reporters = 64;
    constexpr int each = 60;
    std::atomic<int> nudges{0};
    std::vector<std::thread> threads;
    threads.reserve(reporters);
    for (int i = 0; i < reporters; ++i) {
        threads.emplace_back([&, i] {
            Client own(home.socket());
            for (int k = 0; k < each; ++k) {
                const auto reply = own.must(
                    "tool.report",
                    fmt::format(
                        R"({{"session_id":"s","generation":1,"tool":"t{}","ok":false,"error":"{}"}})",
                        i, k));
                if (!at(reply, "nudge").is_null()) ++nudges;
            }
        });
    }
    for (auto& thread : threads) thread.join();

    EXPECT_EQ(number(why(), "guard.errors"), reporters * each);
    EXPECT_EQ(nudges, reporters * each / 3);
    EXPECT_EQ(stuck_events().size(), static_cast<std::size_t>(reporters * each / 3));
    EXPECT_EQ(number(client.must("node.status"), "tools.reports"), reporters * each);
}

class OpenBreaker : public ToolReports {
  protected:
    OpenBreaker() {
        write_file(home.file("config.yaml"), "guard:\n  breaker: open\n  cool_down: 4s\n");
        daemon.kill9();
        daemon.restart();
        client = Client(home.socket());
        create(R"({"id":"s","source":"cli"})");
    }
    static constexpr auto question = R"({"session_id":"s","generation":1,"tool":"Bash"})";
};

TEST_F(OpenBreaker, RefusesForAWhileAndThenLetsExactlyOneThrough) {
    EXPECT_TRUE(at(client.must("tool.check", question), "allow").as_bool());
    for (int i = 0; i < 9; ++i) fail();

    const auto refused = client.must("tool.check", question);
    EXPECT_FALSE(at(refused, "allow").as_bool());
    EXPECT_THAT(text(refused, "why"), HasSubstr("9 tool calls in a row have failed"));
    EXPECT_GT(number(refused, "retry_after_s"), 0);
    EXPECT_EQ(text(why(), "guard.breaker.state"), "open");
    EXPECT_GE(number(client.must("node.status"), "tools.denials"), 1);

    constexpr std::size_t askers = 64;
    std::vector<Client> clients;
    for (std::size_t i = 0; i < askers; ++i) clients.emplace_back(home.socket());
    const auto ask_all = [&] {
        std::atomic<int> allowed{0};
        std::vector<std::thread> threads;
        for (auto& one : clients) {
            threads.emplace_back([&] {
                if (at(one.must("tool.check", question), "allow").as_bool()) ++allowed;
            });
        }
        for (auto& thread : threads) thread.join();
        return allowed.load();
    };
    int allowed = 0;
    until([&] { return (allowed = ask_all()) > 0; }, "the breaker to cool down");
    EXPECT_EQ(allowed, 1);
    EXPECT_EQ(text(why(), "guard.breaker.state"), "half_open");

    report(R"("tool":"Bash","ok":true)");
    EXPECT_EQ(ask_all(), static_cast<int>(askers));
    EXPECT_EQ(text(why(), "guard.breaker.state"), "closed");
}

}  // namespace
}  // namespace knell::functional
