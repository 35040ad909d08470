// Every death of an owner is seen, whoever its parent is and however it goes.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class Death : public WithOwners {};

TEST_F(Death, BySignalIsToldWithTheSignal) {
    struct Way {
        int signal;
        const char* detail;
    };
    for (const auto& [signal, detail] :
         {Way{SIGKILL, "signal 9 (SIGKILL)"}, Way{SIGTERM, "signal 15 (SIGTERM)"},
          Way{SIGSEGV, "signal 11 (SIGSEGV)"}, Way{SIGHUP, "signal 1 (SIGHUP)"},
          Way{SIGABRT, "signal 6 (SIGABRT)"}, Way{SIGRTMIN + 3, "signal 37"}}) {
        auto owner = idle_process();
        const auto id = fmt::format("s{}", signal);
        own(id, owner.pid());

        owner.signal(signal);

        expect_end(id, "signaled", detail);
        EXPECT_EQ(text(show(id), "proof"), "observed");
        EXPECT_THAT(text(show(id), "evidence"), HasSubstr(fmt::format("process {} ", owner.pid())));
    }
}

TEST_F(Death, ByExitIsToldWithItsStatus) {
    for (const int code : {0, 1, 3, 127, 255}) {
        Puppet owner;
        const auto id = fmt::format("s{}", code);
        own(id, owner.pid());

        owner.tell(fmt::format("exit {}", code));

        expect_end(id, "exited", fmt::format("exit {}", code));
    }
}

TEST_F(Death, IsToldWhetherOrNotSomebodyWaitsForIt) {
    Puppet waited;
    Puppet zombie;
    own("waited", waited.pid());
    own("zombie", zombie.pid());
    waited.tell("exit 5");
    zombie.tell("exit 6");
    EXPECT_EQ(waited.wait(), 5);

    expect_end_of_reaped("waited", "exited", "exit 5");
    expect_end("zombie", "exited", "exit 6");
}

TEST_F(Death, OfAnOwnerThatDiesWithItsConnectionOpenIsSeenByTheProcess) {
    // The caller itself is the owner: a shell that makes one call and is killed.
    Puppet owner(home.environment());
    // So that it leads something.
    ASSERT_EQ(owner.ask("exec setsid sh -c 'echo ready; exec sh'"), "ready");
    const auto created = parse(owner.ask(
        fmt::format(R"("{}" rpc session.create '{{"id":"s","source":"cli"}}' | tr -d '\n'; echo)",
                    knell_binary())));
    EXPECT_EQ(number(show("s"), "owner.pid"), owner.pid()) << "the shell that called";
    EXPECT_TRUE(is_open("s")) << "the call is over, its owner is not";

    owner.signal(SIGKILL);

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Death, OfAGrandchildIsSeen) {
    Puppet parent;
    const Stray grandchild(parent.ask_pid("sh -c 'sleep 600 & echo $!'"));
    own("s", grandchild.pid());

    grandchild.kill();

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Death, OfAParentSaysNothingOfItsChild) {
    Puppet parent;
    const Stray child(parent.ask_pid("sleep 600 & echo $!"));
    own("parent", parent.pid());
    own("child", child.pid());

    parent.signal(SIGKILL);

    expect_end("parent", "signaled", "signal 9 (SIGKILL)");
    let_observers_speak();
    EXPECT_TRUE(is_open("child"));
    child.kill();
    expect_end("child", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Death, OfASetsidOrNohupChildIsSeen) {
    Puppet parent;
    const Stray setsid(parent.ask_pid("setsid sh -c 'echo $$; exec sleep 600' &"));
    const Stray nohup(
        parent.ask_pid("nohup sh -c 'echo $$ >&3; exec sleep 600' 3>&1 >/dev/null 2>&1 &"));
    own("setsid", setsid.pid());
    own("nohup", nohup.pid());
    parent.signal(SIGKILL);
    parent.wait();
    let_observers_speak();
    EXPECT_TRUE(is_open("setsid"));
    EXPECT_TRUE(is_open("nohup"));

    setsid.kill();
    nohup.kill();

    expect_end("setsid", "signaled", "signal 9 (SIGKILL)");
    expect_end("nohup", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Death, OfADoubleForkedDaemonIsSeen) {
    Puppet parent;
    const Stray lost(parent.ask_pid("(setsid sh -c 'sleep 600 & echo $!' &)"));
    parent.tell("exit 0");
    parent.wait();
    own("s", lost.pid());

    lost.kill();

    expect_end_of_reaped("s", "signaled", "signal 9 (SIGKILL)");
}

TEST_F(Death, OfAWrapperThatBecomesItsCommandIsTheDeathOfTheCommand) {
    Puppet wrapper;
    own("s", wrapper.pid());
    wrapper.tell("exec sh -c 'exec sh -c \"exit 7\"'");

    expect_end("s", "exited", "exit 7");
}

TEST_F(Death, OfTheLastOfAChainOfWrappersReachesTheFirst) {
    // npx -> sh -> node: each waits for the next and passes its status on.
    Puppet wrapper;
    const Stray node(
        wrapper.ask_pid("sh -c 'sh -c \"echo \\$\\$; exec sleep 600\"; exit $?'; exit $?"));
    own("wrapper", wrapper.pid());
    own("node", node.pid());

    node.kill();

    expect_end_of_reaped("node", "signaled", "signal 9 (SIGKILL)");
    expect_end("wrapper", "exited", "exit 137");
}

TEST_F(Death, OfOneProcessEndsItsTwoHundredSessions) {
    auto owner = idle_process();
    auto other = idle_process();
    for (int i = 0; i < 200; ++i) own(fmt::format("s{}", i), owner.pid());
    own("other", other.pid());

    owner.signal(SIGKILL);

    for (int i = 0; i < 200; ++i)
        expect_end(fmt::format("s{}", i), "signaled", "signal 9 (SIGKILL)");
    EXPECT_EQ(count_events("session:end"), 200U);
    EXPECT_TRUE(is_open("other"));
    until([&] { return number(client.must("node.status"), "watched_processes") == 1; },
          "only the other to be watched");
}

TEST_F(Death, DuringATurnEndsTheTurnFirst) {
    auto owner = idle_process();
    own("s", owner.pid());
    client.must("turn.start", R"({"session_id":"s","generation":1})");

    owner.signal(SIGKILL);
    ended("s");

    EXPECT_THAT(story_of(client, "s"), testing::ElementsAre("session:start 1", "agent:start 1",
                                                            "agent:end 1", "session:end 1"));
}

TEST_F(Death, IsExplained) {
    auto owner = idle_process();
    own("s", owner.pid());
    EXPECT_EQ(text(client.must("session.why", R"({"session_id":"s"})"), "verdict"), "alive");
    owner.signal(SIGKILL);
    ended("s");

    const auto why = client.must("session.why", R"({"session_id":"s"})");

    EXPECT_EQ(text(why, "verdict"), "dead");
    EXPECT_THAT(text(why, "evidence"), HasSubstr("SIGKILL"));
    EXPECT_THAT(text(why, "transitions.1.cause"), HasSubstr("signaled (observed)"));
}

TEST_F(Death, OfAnOwnerThatDiesAsItIsNamedIsNotMissed) {
    for (int i = 0; i < 50; ++i) {
        auto owner = idle_process();
        const auto id = fmt::format("s{}", i);
        Client racer(home.socket());
        racer.send(fmt::format(
            R"({{"jsonrpc":"2.0","id":1,"method":"session.create","params":{{"id":"{}","source":"cli","owner":{{"pid":{}}}}}}})"
            "\n",
            id, owner.pid()));
        owner.signal(SIGKILL);
        const bool created = racer.read_answer().ok();
        owner.wait();
        if (created) {
            EXPECT_EQ(text(ended(id), "status"), "ended");
        }
    }
    EXPECT_EQ(count_events("session:start"), count_events("session:end"));
}

}  // namespace
}  // namespace knell::functional
