// Hook directories: picked up, run, retried, steered, as a person would see it.

#include "functional/harness/hooks.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace knell::functional {
namespace {

TEST_F(WithHooks, HearStartAndEndWithAllThereIsToKnow) {
    add_listener("ops", "\"session:*\"");
    live_and_die("a");
    wait_until_heard("ops", "a_1_end");

    const auto events = heard("ops");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(text(events[0], "type"), "session:start");
    const auto& end = events[1];
    EXPECT_EQ(text(end, "type"), "session:end");
    EXPECT_EQ(text(end, "session_key"), "k:a");
    EXPECT_EQ(text(end, "platform"), "tests");
    EXPECT_EQ(text(end, "user_id"), "u1");
    EXPECT_EQ(text(end, "reason"), "completed");
    EXPECT_EQ(text(end, "proof"), "declared");
    for (const auto* field :
         {"started_at", "ended_at", "ended_after", "ended_before", "evidence"}) {
        EXPECT_FALSE(text(end, field).empty()) << field;
    }
    for (const auto* field : {"message_count", "input_tokens", "output_tokens"}) {
        EXPECT_TRUE(at(end, field).is_number()) << field;
    }
}

TEST_F(WithHooks, HearOfADeathThatNobodyDeclared) {
    add_listener("ops", "\"session:end\"");
    Puppet agent;
    own("a", agent.pid());
    agent.signal(SIGKILL);
    wait_until_heard("ops", "a_1_end");
    EXPECT_EQ(text(heard("ops").back(), "reason"), "signaled");
}

TEST_F(WithHooks, ArePickedUpChangedAndRemovedWithoutARestart) {
    add_listener("ops", "\"session:end\"");
    live_and_die("a");
    wait_until_heard("ops", "a_1_end");

    write_file(home.file("hooks/ops/HOOK.yaml"), "name: ops\nevents: [\"session:start\"]\n");
    until([&] { return text(row("ops"), "events.0") == "session:start"; }, "the change");
    live_and_die("b");
    wait_until_heard("ops", "b_1_start");
    const auto ids = heard_ids("ops");
    EXPECT_EQ(std::ranges::count(ids, "b_1_end"), 0);

    std::filesystem::rename(home.file("hooks/ops"), home.file("away"));
    wait_for_state("ops", "absent");
    live_and_die("c");
    std::filesystem::rename(home.file("away"), home.file("hooks/ops"));
    wait_until_heard("ops", "c_1_start");
}

TEST_F(WithHooks, AMalformedOneIsReportedWithItsLineAndTheOthersGoOn) {
    add_listener("good", "\"session:end\"");
    write_hook(home, "bad", "true", "\"session:end\"", "timeout: soon");
    until([&] { return !array(client.must("hooks.list"), "problems").empty(); }, "the problem");
    const auto list = home.knell({"hooks"});
    EXPECT_EQ(list.status, 0);
    EXPECT_NE(list.out.find("bad/HOOK.yaml:3"), std::string::npos) << list.out;
    live_and_die("a");
    wait_until_heard("good", "a_1_end");
}

TEST_F(WithHooks, OneThatFailsIsTriedAgainAndTheOthersDoNotWait) {
    add_listener("good", "\"session:end\"");
    write_hook(home, "flaky", "test -e fixed && cat >> heard || { echo no disk; exit 3; }",
               "\"session:end\"");
    wait_until_known("flaky");
    live_and_die("a");
    wait_until_heard("good", "a_1_end");
    wait_for_state("flaky", "failing");
    EXPECT_EQ(text(row("flaky"), "last_error"), "exit 3: no disk");
    EXPECT_EQ(number(row("flaky"), "waiting"), 1);
    EXPECT_FALSE(text(row("flaky"), "next_try_at").empty());

    const auto letters = home.knell({"hooks", "letters", "flaky"});
    EXPECT_NE(letters.out.find("session:end"), std::string::npos) << letters.out;
    write_file(home.file("hooks/flaky/fixed"), "");
    EXPECT_EQ(home.knell({"hooks", "retry", "flaky"}).status, 0);
    wait_until_heard("flaky", "a_1_end");
    wait_for_state("flaky", "active");
    EXPECT_EQ(number(row("flaky"), "waiting"), 0);
}

TEST_F(WithHooks, APausedOneMissesNothing) {
    add_listener("ops", "\"session:end\"");
    EXPECT_EQ(home.knell({"hooks", "pause", "ops"}).out, "ops is paused\n");
    live_and_die("a");
    daemon.restart();
    reconnect();
    EXPECT_EQ(text(row("ops"), "state"), "paused") << "also after a crash";
    EXPECT_GT(number(row("ops"), "lag"), 0);
    EXPECT_EQ(home.knell({"hooks", "resume", "ops"}).out, "ops is active\n");
    wait_until_heard("ops", "a_1_end");
}

TEST_F(WithHooks, WhoAsksHowFarOneIsIsToldOfAllThatHasHappened) {
    client.must("hooks.list");  // or it might hear of the start, too
    add_listener("ops");
    ASSERT_EQ(home.knell({"hooks", "pause", "ops"}).status, 0);
    const auto before = number(row("ops"), "lag");
    for (int i = 1; i <= 50; ++i) {
        create();
        ASSERT_EQ(number(row("ops"), "lag"), before + i);
    }
}

TEST_F(WithHooks, ATestShowsWhatItSays) {
    write_hook(home, "chatty", "echo \"$KNELL_EVENT $KNELL_SESSION_ID\"; cat", "\"session:*\"");
    write_hook(home, "broken", "echo oops >&2; exit 7", "notice");
    wait_until_known("chatty");
    wait_until_known("broken");
    const auto good = home.knell({"hooks", "test", "chatty"});
    EXPECT_EQ(good.status, 0) << good.out;
    EXPECT_NE(good.out.find("session:end knell-hooks-test"), std::string::npos) << good.out;
    EXPECT_NE(good.out.find("\"test\":true"), std::string::npos) << good.out;
    const auto bad = home.knell({"hooks", "test", "broken"});
    EXPECT_EQ(bad.status, 1);
    EXPECT_NE(bad.out.find("exit 7: oops"), std::string::npos) << bad.out;
    const auto nobody = home.knell({"hooks", "test", "nobody"});
    EXPECT_EQ(nobody.status, 1);
    EXPECT_NE(nobody.err.find("no hook or webhook nobody"), std::string::npos) << nobody.err;
}

TEST_F(WithHooks, AHermesHandlerWorksUnchanged) {
    const auto folder = home.file("hooks/hermes");
    std::filesystem::create_directories(folder);
    write_file(folder + "/handler.py",
               "import json, os\n"
               "async def handle(event_type, context):\n"
               "    with open(os.path.join(os.path.dirname(__file__), 'heard'), 'a') as f:\n"
               "        f.write(json.dumps({'id': event_type, **{k: context.get(k) for k in\n"
               "            ('platform', 'user_id', 'session_key', 'session_id', 'reason')}}) + "
               "'\\n')\n");
    write_file(folder + "/HOOK.yaml",
               "name: hermes\ndescription: mirrors sessions\nevents:\n  - session:start\n"
               "  - session:end\n  - agent:step\n");
    wait_until_known("hermes");
    live_and_die("a");
    wait_until_heard("hermes", "session:end");
    const auto end = heard("hermes").back();
    EXPECT_EQ(text(end, "session_id"), "a");
    EXPECT_EQ(text(end, "session_key"), "k:a");
    EXPECT_EQ(text(end, "platform"), "tests");
    EXPECT_EQ(text(end, "reason"), "completed");
}

TEST_F(WithHooks, TheDaemonItselfIsHeardToComeAndGo) {
    // An answer says that it has looked for hooks once: who comes now was not there at startup.
    client.must("hooks.list");
    add_listener("ops", "\"gateway:*\"");
    EXPECT_EQ(daemon.terminate(), 0);
    ASSERT_EQ(heard("ops").size(), 1U);
    EXPECT_EQ(text(heard("ops").front(), "type"), "gateway:shutdown") << "before it went";
    daemon.start();
    reconnect();
    until([&] { return heard("ops").size() > 1; }, "gateway:startup");
    ASSERT_EQ(heard("ops").size(), 2U);
    EXPECT_EQ(text(heard("ops").back(), "type"), "gateway:startup");
}

TEST_F(WithHooks, ASessionOfTheDaemonItselfEndsWhenItIsStopped) {
    add_listener("ops", "\"session:end\", \"gateway:shutdown\"");
    own("hosted", daemon.pid());
    EXPECT_EQ(daemon.terminate(), 0);
    const auto events = heard("ops");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(text(events[0], "reason"), "shutdown");
    EXPECT_EQ(text(events[1], "type"), "gateway:shutdown");
}

TEST_F(WithHooks, BadOnesDelayNobody) {
    write_hook(home, "sleeper", "sleep 1000000", "\"*\"", "timeout: 600");
    write_hook(home, "failing", "exit 1");
    write_hook(home, "flood", "head -c 1G /dev/zero");
    write_hook(home, "daemoniser", "setsid sleep 30 & cat >> heard");
    write_hook(home, "forker", "sleep 1000000 & cat >> heard");
    for (const auto* name : {"sleeper", "failing", "flood", "daemoniser", "forker"}) {
        wait_until_known(name);
    }
    add_listener("good");
    for (int i = 0; i < 20; ++i) live_and_die(fmt::format("s{}", i));
    for (int i = 0; i < 20; ++i) {
        wait_until_heard("good", fmt::format("s{}_1_end", i));
        wait_until_heard("forker", fmt::format("s{}_1_end", i));
    }
    wait_until_heard("daemoniser", "s19_1_end");
    EXPECT_EQ(number(row("sleeper"), "under_way"), 1);
    EXPECT_EQ(number(row("good"), "failures"), 0);
    wait_for_state("failing", "failing");
    // What a hook starts and leaves in its session is ended with it; a daemon of its own is not
    // ours to stop.
    static_cast<void>(home.knell({"hooks", "pause", "sleeper"}));
    EXPECT_EQ(daemon.terminate(), 0);  // killed, it would leave the sleeper to the next one
}

TEST_F(WithHooks, TwoHundredOfThem) {
    for (int i = 0; i < 200; ++i) {
        write_hook(home, fmt::format("h{}", i), "cat >> heard", "\"session:end\"");
    }
    until([&] { return array(client.must("hooks.list"), "hooks").size() == 200; }, "200 hooks");
    live_and_die("a");
    for (int i = 0; i < 200; ++i) wait_until_heard(fmt::format("h{}", i), "a_1_end");
}

TEST_F(WithHooks, WhatIsNoLongerKeptIsToldAsAGap) {
    add_listener("ops", "\"session:end\"");
    EXPECT_EQ(home.knell({"hooks", "pause", "ops"}).status, 0);
    write_file(home.file("config.yaml"), "events:\n  keep_count: 1000\n");
    for (int i = 0; i < 2500; ++i) live_and_die(fmt::format("s{}", i));
    until([&] { return number(client.must("node.status"), "events.first_seq") > 1; }, "a trim");
    EXPECT_EQ(home.knell({"hooks", "resume", "ops"}).status, 0);
    until([&] { return !heard("ops").empty(); }, "the gap");
    const auto gap = heard("ops").front();
    EXPECT_EQ(text(gap, "type"), "gap");
    EXPECT_GT(number(gap, "to"), number(gap, "from"));
    const auto page = client.must("events.read", R"({"after":0,"limit":1})");
    EXPECT_EQ(number(page, "gap.from"), 1);
    EXPECT_EQ(number(page, "events.0.seq"), number(page, "gap.to") + 1);
}

TEST_F(WithHooks, OneThatIsRemovedWhileItRunsIsStopped) {
    write_hook(home, "slow", "echo $$ > ../../pid; exec sleep 1000", "\"session:end\"");
    wait_until_known("slow");
    live_and_die("a");
    until([&] { return !lines_of(home.file("pid")).empty(); }, "the hook");
    const auto hook = static_cast<pid_t>(std::stol(lines_of(home.file("pid")).front()));

    std::filesystem::remove_all(home.file("hooks/slow"));

    until([&] { return !is_running(hook); }, "its end");
    EXPECT_EQ(text(row("slow"), "state"), "absent");
}

}  // namespace
}  // namespace knell::functional
