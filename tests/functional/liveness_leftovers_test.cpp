// What a command leaves behind is found, reported or stopped; and nothing else is.

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <termios.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class Leftovers : public WithOwners {
  protected:
    /// `knell run` of a shell command as session "s"; it must end by itself.
    Outcome run(const std::string& script, const std::string& policy) {
        return home.knell({"run", "--id", "s", "--leftovers", policy, "--", "sh", "-c", script});
    }
    /// The pids that the end of a session names.
    std::vector<std::int64_t> left_by(const std::string& id) {
        std::vector<std::int64_t> pids;
        for (const auto& leftover : array(ended(id), "leftovers"))
            pids.push_back(number(leftover, "pid"));
        return pids;
    }
    /// A session whose owner is a shell with the session's cookie, as under `knell run`.
    Puppet command(const std::string& id, const std::string& policy) {
        Puppet shell(
            {{"KNELL_SESSION_ID", id}, {"KNELL_GENERATION", "1"}, {"KNELL_SOCKET", home.socket()}});
        own(id, shell.pid(), fmt::format(R"("leftovers":"{}")", policy));
        return shell;
    }
    /// What became of the one leftover that the end of a session names, once that is known.
    std::string fate_of_the_one(const std::string& id) {
        std::string fate;
        until(
            [&] {
                fate = text(show(id), "leftovers.0.fate");
                return !fate.empty() && fate != "stopping";
            },
            "the fate of a leftover");
        EXPECT_EQ(array(show(id), "leftovers").size(), 1U);
        return fate;
    }
    static constexpr auto quiet = ">/dev/null 2>&1 </dev/null";
};

TEST_F(Leftovers, AreReportedAndLeftRunning) {
    const auto outcome = run(fmt::format("sleep 600 {} & echo $!", quiet), "report");
    const Stray left(static_cast<pid_t>(std::stol(outcome.out)));

    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format("{}", left.pid())));
    EXPECT_THAT(left_by("s"), testing::ElementsAre(left.pid()));
    EXPECT_EQ(text(show("s"), "leftovers.0.command"), "sleep 600");
    const auto why = client.must("session.why", R"({"session_id":"s"})");
    EXPECT_EQ(number(why, "session.leftovers.0.pid"), left.pid());
    const auto ends = client.must("events.read", R"({"types":["session:end"]})");
    EXPECT_EQ(number(ends, "events.0.leftovers.0.pid"), left.pid());
    EXPECT_EQ(fate_of_the_one("s"), "left");
    let_observers_speak();
    EXPECT_TRUE(left.is_running());
}

TEST_F(Leftovers, AreNamedOnLinesOfTheirOwnOnATerminalInRawMode) {
    termios raw{};
    cfmakeraw(&raw);
    int ends[2];
    ASSERT_EQ(openpty(&ends[0], &ends[1], nullptr, &raw, nullptr), 0);
    const Fd screen{ends[0]};
    Fd terminal{ends[1]};
    Pipe out;
    auto spawn =
        home.command({"run", "--id", "s", "--", "sh", "-c",
                      fmt::format("sleep 600 {0} & echo $!; sleep 601 {0} & echo $!", quiet)});
    spawn.out = out.writing.get();
    spawn.err = terminal.get();
    Process wrapper(spawn);
    out.writing.reset();
    const auto pids = read_to_end(out.reading.get());
    const Stray one(static_cast<pid_t>(std::stol(pids)));
    const Stray two(static_cast<pid_t>(std::stol(pids.substr(pids.find('\n')))));
    wrapper.wait();

    std::string shown;
    while (std::ranges::count(shown, '\n') < 2) {
        ASSERT_TRUE(read_available(screen.get(), shown)) << shown;
    }
    EXPECT_THAT(shown, testing::MatchesRegex("knell run: left running: [^\n]*\r\n"
                                             "knell run: left running: [^\n]*\r\n"));
}

TEST_F(Leftovers, OfACommandThatLeavesNothingAreNone) {
    const auto outcome = run("true & wait", "stop");

    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(left_by("s"), IsEmpty());
}

TEST_F(Leftovers, AreStoppedWhenToldSo) {
    const auto outcome = run(fmt::format("sleep 600 {} & echo $!", quiet), "stop");
    const Stray left(static_cast<pid_t>(std::stol(outcome.out)));

    EXPECT_THAT(left_by("s"), testing::ElementsAre(left.pid()));
    left.wait_until_gone();
    EXPECT_EQ(fate_of_the_one("s"), "stopped");
}

TEST_F(Leftovers, ThatExitMomentsAfterTheCommandAreNotLeftRunning) {
    const auto outcome = run(fmt::format("sleep 0.05 {} &", quiet), "report");

    EXPECT_EQ(outcome.err, "");
    for (const auto& leftover : array(ended("s"), "leftovers")) {
        EXPECT_EQ(text(leftover, "fate"), "gone");
    }
}

TEST_F(Leftovers, AreFoundHoweverTheyHide) {
    const auto outcome = run(fmt::format("setsid sleep 601 {0} & echo $!;"
                                         "nohup sleep 602 {0} & echo $!;"
                                         "env -i sh -c 'setsid sleep 603 {0} & echo $!';"
                                         "(setsid sh -c 'sleep 604 {0} & echo $!') ",
                                         quiet),
                             "stop");
    std::vector<Stray> hidden;
    for (std::size_t at = 0; at < outcome.out.size(); at = outcome.out.find('\n', at) + 1) {
        hidden.emplace_back(static_cast<pid_t>(std::stol(outcome.out.substr(at))));
    }

    EXPECT_EQ(hidden.size(), 4U);
    const auto found = left_by("s");
    for (const auto& one : hidden) {
        EXPECT_THAT(found, Contains(one.pid()));
        one.wait_until_gone();
    }
}

TEST_F(Leftovers, ThatIgnoreTheRequestAreKilled) {
    const auto outcome = run(fmt::format("trap '' TERM; sleep 600 {} & echo $!", quiet), "stop");
    const Stray left(static_cast<pid_t>(std::stol(outcome.out)));

    EXPECT_THAT(left_by("s"), testing::ElementsAre(left.pid()));
    left.wait_until_gone();  // after a grace of seconds
    EXPECT_EQ(fate_of_the_one("s"), "killed");
}

TEST_F(Leftovers, ThatWereBeingStoppedWhenTheDaemonDiedAreSeenThroughByTheNext) {
    const auto outcome = run(fmt::format("trap '' TERM; sleep 600 {} & echo $!", quiet), "stop");
    const Stray left(static_cast<pid_t>(std::stol(outcome.out)));
    EXPECT_EQ(text(show("s"), "leftovers.0.fate"), "stopping");
    daemon.kill9();
    EXPECT_TRUE(left.is_running());
    daemon.start();
    reconnect();

    EXPECT_EQ(fate_of_the_one("s"), "killed");
    left.wait_until_gone();
}

TEST_F(Leftovers, ThatEndWhileNoDaemonRunsAreRecordedAsGone) {
    const auto outcome = run(fmt::format("trap '' TERM; sleep 600 {} & echo $!", quiet), "stop");
    const Stray left(static_cast<pid_t>(std::stol(outcome.out)));
    daemon.kill9();
    left.kill();
    left.wait_until_gone();
    daemon.start();
    reconnect();

    EXPECT_EQ(fate_of_the_one("s"), "gone");
}

TEST_F(Leftovers, AreFoundWhenTheWrapperItselfWasKilled) {
    Pipe out;
    auto spawn = home.command({"run", "--id", "s", "--leftovers", "stop", "--", "sh", "-c",
                               fmt::format("sleep 600 {} & echo $$ $!; exec sleep 605", quiet)});
    spawn.out = out.writing.get();
    Process wrapper(spawn);
    out.writing.reset();
    std::string said;
    while (!said.contains('\n')) ASSERT_TRUE(read_available(out.reading.get(), said));
    const Stray command(static_cast<pid_t>(std::stol(said)));
    const Stray left(static_cast<pid_t>(std::stol(said.substr(said.find(' ')))));
    wrapper.signal(SIGKILL);
    wrapper.wait();
    let_observers_speak();
    EXPECT_TRUE(is_open("s")) << "the wrapper is not the session";

    command.kill();

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
    EXPECT_THAT(left_by("s"), testing::ElementsAre(left.pid()));
    left.wait_until_gone();
}

TEST_F(Leftovers, AreFoundByADaemonThatComesLater) {
    auto owner = command("s", "stop");
    const Stray left(owner.ask_pid("sleep 600 & echo $!"));
    daemon.kill9();
    owner.signal(SIGKILL);
    owner.wait();
    daemon.start();
    reconnect();

    EXPECT_EQ(text(show("s"), "status"), "ended") << "before anybody can ask";
    EXPECT_THAT(left_by("s"), testing::ElementsAre(left.pid()));
    left.wait_until_gone();
}

TEST_F(Leftovers, OfOneSessionAreNotThoseOfAnother) {
    auto owner = command("s", "stop");
    auto namesake = command("s2", "stop");
    const Stray left(owner.ask_pid("sleep 600 & echo $!"));
    const Stray other(namesake.ask_pid("sleep 600 & echo $!"));
    // Same name, same folder, and a cookie that only begins like ours; or another daemon's.
    const Puppet innocent({{"KNELL_SESSION_ID", "s-too"},
                           {"OLD_KNELL_SESSION_ID", "s"},
                           {"KNELL_GENERATION", "1"},
                           {"KNELL_SOCKET", home.socket()}});
    const Puppet elsewhere({{"KNELL_SESSION_ID", "s"},
                            {"KNELL_GENERATION", "1"},
                            {"KNELL_SOCKET", "/run/other/knell.sock"}});
    const Puppet later(
        {{"KNELL_SESSION_ID", "s"}, {"KNELL_GENERATION", "2"}, {"KNELL_SOCKET", home.socket()}});

    owner.tell("exit 1");

    EXPECT_THAT(left_by("s"), testing::ElementsAre(left.pid()));
    left.wait_until_gone();
    let_observers_speak();
    EXPECT_TRUE(other.is_running());
    EXPECT_TRUE(is_running(innocent.pid()));
    EXPECT_TRUE(is_running(elsewhere.pid()));
    EXPECT_TRUE(is_running(later.pid()));
    EXPECT_TRUE(is_open("s2"));
}

TEST_F(Leftovers, AreNotTheOtherChildrenOfWhoeverMadeTheCall) {
    // The test made it, and has children that are none of the session's business.
    auto innocent = idle_process();
    auto owner = command("s", "stop");

    owner.tell("exit 0");

    EXPECT_THAT(left_by("s"), IsEmpty());
    let_observers_speak();
    innocent.signal(SIGINT);
    EXPECT_EQ(innocent.wait(), 128 + SIGINT) << "nobody but the test has signalled it";
}

TEST_F(Leftovers, AreNotLookedForOnceSomebodyElseOwnsTheSession) {
    auto owner = command("s", "stop");
    Puppet next;
    const Stray child(next.ask_pid("sleep 600 & echo $!"));
    client.must(
        "session.resume",
        fmt::format(R"({{"session_id":"s","takeover":true,"owner":{{"pid":{}}}}})", next.pid()));

    next.tell("exit 0");

    expect_end("s", "exited", "exit 0");
    EXPECT_THAT(left_by("s"), IsEmpty());
    let_observers_speak();
    EXPECT_TRUE(child.is_running());
}

}  // namespace
}  // namespace knell::functional
