// knell stop, adopt, wait and end of sessions: the process goes first, then the record.

#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "functional/harness/on_terminal.hpp"
#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StopSessions : public WithOwners {
  protected:
    /// A `knell run` as session "s", until its command says that it is there.
    Process start(const std::string& script, std::vector<std::string> options = {}) {
        std::vector<std::string> arguments{"run", "--id", "s"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        for (const auto* word : {"--", "sh", "-c"}) arguments.emplace_back(word);
        arguments.push_back("echo ready; " + script);
        auto spawn = home.command(arguments);
        const Pipe out;
        spawn.out = out.writing.get();
        Process wrapper(spawn);
        wait_for(out.reading.get(), POLLIN, "the command to be there");
        return wrapper;
    }
    pid_t owner_of(const std::string& id) {
        return static_cast<pid_t>(number(show(id), "owner.pid"));
    }
};

TEST_F(StopSessions, TheProcessIsAskedToEndAndTheRecordSaysSo) {
    auto wrapper = start("exec sleep 600");
    const auto command = owner_of("s");

    const auto outcome = home.knell({"stop", "s", "--yes"});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("s stopped: signaled"));
    EXPECT_EQ(wrapper.wait(), 128 + SIGTERM);
    EXPECT_FALSE(is_running(command));
    EXPECT_EQ(text(show("s"), "reason"), "signaled");
    EXPECT_EQ(text(show("s"), "detail"), "signal 15 (SIGTERM) after knell stop");
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
}

TEST_F(StopSessions, ACommandThatEndsItselfAfterTheSignalIsToldApartFromOneThatWasDone) {
    auto wrapper = start("trap 'exit 0' TERM; while :; do sleep 0.1; done");

    EXPECT_EQ(home.knell({"stop", "s", "--yes"}).status, 0);

    EXPECT_EQ(wrapper.wait(), 0);
    EXPECT_EQ(text(show("s"), "reason"), "completed");
    EXPECT_EQ(text(show("s"), "detail"), "exit 0 after knell stop");
}

TEST_F(StopSessions, OneThatIgnoresSigtermIsKilled) {
    auto wrapper = start("trap '' TERM; while :; do sleep 0.1; done");

    const auto answer = client.must("session.stop", R"({"session_id":"s"})");

    EXPECT_EQ(text(answer, "process.fate"), "killed");
    EXPECT_EQ(wrapper.wait(), 128 + SIGKILL);
    EXPECT_EQ(text(ended("s"), "detail"), "signal 9 (SIGKILL) after session.stop");
}

TEST_F(StopSessions, OneThatIsStoppedHearsTheSignalToo) {
    auto wrapper = start("exec sleep 600");
    ::kill(owner_of("s"), SIGSTOP);

    const auto answer = client.must("session.stop", R"({"session_id":"s"})");

    EXPECT_EQ(text(answer, "process.fate"), "stopped");
    EXPECT_EQ(wrapper.wait(), 128 + SIGTERM);
}

TEST_F(StopSessions, WhatTheCommandStartedIsDealtWithByItsPolicy) {
    auto wrapper = start(
        fmt::format("sleep 601 >/dev/null 2>&1 & echo $! >{}; exec sleep 600", home.file("left")),
        {"--leftovers", "stop"});
    until([&] { return read_file(home.file("left")).ends_with('\n'); }, "the pid of what it left");
    const Stray left(static_cast<pid_t>(std::stol(read_file(home.file("left")))));

    EXPECT_EQ(home.knell({"stop", "s", "--yes"}).status, 0);

    wrapper.wait();
    left.wait_until_gone();
}

TEST_F(StopSessions, ADryRunSaysWhatWouldBeStoppedAndStopsNothing) {
    const auto process = idle_process();
    own("s", process.pid());

    const auto outcome = home.knell({"stop", "s", "--dry-run"});

    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, fmt::format("s would be stopped: process {} with SIGTERM, after 5 s "
                                       "SIGKILL\n",
                                       process.pid()));
    EXPECT_TRUE(is_running(process.pid()));
    EXPECT_TRUE(is_open("s"));
}

TEST_F(StopSessions, AProcessThatKeepsOthersTooIsLeftRunning) {
    const auto process = idle_process();
    own("s", process.pid());
    own("t", process.pid());

    const auto outcome = home.knell({"stop", "s", "--yes"});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("keeps 2 open sessions"));
    EXPECT_THAT(outcome.err, HasSubstr("knell end s"));
    EXPECT_TRUE(is_running(process.pid()));
    EXPECT_TRUE(is_open("s"));
    EXPECT_TRUE(is_open("t"));
}

TEST_F(StopSessions, AParkedOneAndALeaseOnlyEnd) {
    auto process = idle_process();
    own("parked", process.pid(), R"("on_owner_loss":"park")");
    process.signal(SIGKILL);
    until([&] { return !text(show("parked"), "parked_since").empty(); }, "the park");
    create(R"({"id":"lease","source":"cli","owner":{"lease_ttl_s":600}})");

    const auto outcome = home.knell({"stop", "parked", "lease", "--yes"});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(text(show("parked"), "detail"), "knell stop");
    EXPECT_EQ(text(show("lease"), "detail"), "knell stop");
}

TEST_F(StopSessions, WhatHasEndedOrIsNotThereIsSaid) {
    home.knell({"run", "--id", "s", "--", "true"});

    const auto ended = home.knell({"stop", "s", "--yes"});
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.out, HasSubstr("s had ended already"));
    const auto missing = home.knell({"stop", "nowhere", "--yes"});
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.err, HasSubstr("nowhere"));
    EXPECT_EQ(client.call("session.stop", R"({"session_id":"s","generation":7})").kind(), "fenced");
}

TEST_F(StopSessions, OnATerminalANoStopsNothing) {
    const auto process = idle_process();
    own("s", process.pid());
    std::string shown;

    EXPECT_EQ(on_terminal(home, {"stop", "s"}, "n\n", shown), 1);

    EXPECT_THAT(shown, HasSubstr("nothing was stopped"));
    EXPECT_TRUE(is_running(process.pid()));
}

TEST_F(StopSessions, EndSaysWhichProcessGoesOn) {
    const auto process = idle_process();
    own("s", process.pid());

    const auto outcome = home.knell({"end", "s", "--yes"});

    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format("process {}", process.pid())));
    EXPECT_THAT(outcome.err, HasSubstr("still runs"));
    EXPECT_EQ(home.knell({"end", "s", "--yes"}).err, "");
}

// --- adopt
// ----------------------------------------------------------------------------------------

TEST_F(StopSessions, AnAdoptedProcessIsASessionThatEndsWithIt) {
    auto process = idle_process();

    const auto outcome =
        home.knell({"adopt", std::to_string(process.pid()), "--id", "s", "--title", "late"});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "s\n");
    const auto session = show("s");
    EXPECT_EQ(text(session, "title"), "late");
    EXPECT_EQ(number(session, "owner.pid"), process.pid());
    EXPECT_THAT(text(session, "owner.command"), Not(testing::IsEmpty()));
    EXPECT_EQ(text(session, "cwd"),
              std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", process.pid())).string());
    process.signal(SIGKILL);
    EXPECT_NE(text(ended("s"), "reason"), "");
}

TEST_F(StopSessions, OnlyAProcessThatMayBeOneIsAdopted) {
    const auto refused = [&](const std::string& pid) {
        const auto outcome = home.knell({"adopt", pid});
        EXPECT_EQ(outcome.status, 2) << pid;
        return outcome.err;
    };
    const auto process = idle_process();
    own("s", process.pid());

    EXPECT_THAT(refused(std::to_string(process.pid())), HasSubstr("owns a session of its own"));
    EXPECT_THAT(refused(std::to_string(daemon.pid())), HasSubstr("is a process of knell"));
    EXPECT_THAT(refused("1"), HasSubstr("init"));
    EXPECT_THAT(refused("4194303"), HasSubstr("no process 4194303"));
    EXPECT_THAT(refused("nothing"), HasSubstr("no whole number"));
}

// --- wait
// -----------------------------------------------------------------------------------------

TEST_F(StopSessions, WaitGivesTheExitStatusOfTheCommand) {
    auto wrapper = start("read line; exit 3");
    wrapper.wait();

    const auto outcome = home.knell({"wait", "s"});

    EXPECT_EQ(outcome.status, text(show("s"), "detail") == "exit 3" ? 3 : 1);
    EXPECT_THAT(outcome.out, HasSubstr("s exited"));
}

TEST_F(StopSessions, WaitReturnsWhenTheLastOfThemHasEnded) {
    auto first = idle_process();
    auto second = idle_process();
    own("first", first.pid());
    own("second", second.pid());
    auto spawn = home.command({"wait", "first", "second"});
    const Pipe out;
    spawn.out = out.writing.get();
    Process waiting(spawn);

    first.signal(SIGKILL);
    wait_for(out.reading.get(), POLLIN, "the first line");
    EXPECT_FALSE(waiting.has_ended());
    second.signal(SIGKILL);

    EXPECT_NE(waiting.wait(), 0);
}

TEST_F(StopSessions, WaitGivesUpWhenTheTimeIsUp) {
    const auto process = idle_process();
    own("s", process.pid());

    const auto outcome = home.knell({"wait", "s", "--timeout", "1s"});

    EXPECT_EQ(outcome.status, 124);
    EXPECT_THAT(outcome.err, HasSubstr("session s is still open after 1s"));
}

// --- run inside run
// -------------------------------------------------------------------------------

TEST_F(StopSessions, ANestedRunRecordsItsParent) {
    const auto knell = knell_binary();

    home.knell({"run", "--id", "outer", "--", knell, "run", "--id", "inner", "--", "true"});

    EXPECT_EQ(text(show("inner"), "parent_id"), "outer");
    EXPECT_EQ(text(show("outer"), "parent_id"), "");
}

}  // namespace
}  // namespace knell::functional
