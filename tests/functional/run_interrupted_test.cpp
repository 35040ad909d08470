// knell run: what asked the command to end is on record, also when it then exits with 0.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/pty.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

class Interrupted : public WithOwners {
  protected:
    /// `knell run` of a command that says "up" and then, on that signal, exits with `code`; after
    /// a minute in any case.  Nothing of it is in the background: a signal that reaches a shell's
    /// child before that has become `sleep` is lost, and the child stays.
    static std::string obliging(std::string_view signal, int code) {
        return fmt::format("trap 'exit {}' {}; echo up; for i in $(seq 1200); do sleep 0.05; done",
                           code, signal);
    }
    void start(const std::string& script, const std::string& id = "s") {
        Pipe out;
        auto spawn = home.command({"run", "--id", id, "--", "sh", "-c", script});
        spawn.out = out.writing.get();
        wrapper.emplace(spawn);
        out.writing.reset();
        wait_until_up(out.reading.get());
    }
    /// The same as the leader of a session on a terminal.
    void start_on_terminal(const std::string& script) {
        auto spawn = home.command({"run", "--id", "s", "--", "sh", "-c", script});
        spawn.argv.insert(spawn.argv.begin(), {"setsid", "--ctty"});
        spawn.in = spawn.out = spawn.err = pty.slave.get();
        wrapper.emplace(spawn);
        pty.slave.reset();
        pty.wait_until_shown("up");
    }
    static void wait_until_up(int fd) {
        std::string said;
        while (!said.contains("up")) {
            wait_for(fd, POLLIN, "the command");
            if (!read_available(fd, said)) throw std::runtime_error("the command is gone");
        }
    }

    Pty pty;
    std::optional<Process> wrapper;
};

TEST_F(Interrupted, ASignalBeforeExitNoughtIsOnRecord) {
    // Both see the exit: what the wrapper knows must not depend on who is first.
    for (int i = 0; i < 10; ++i) {
        const auto id = fmt::format("s{}", i);
        start(obliging("TERM", 0), id);
        wrapper->signal(SIGTERM);
        EXPECT_EQ(wrapper->wait(), 0);

        expect_end(id, "completed", "exit 0 after SIGTERM");
    }
}

TEST_F(Interrupted, AlsoBeforeAnotherExitStatus) {
    start(obliging("HUP", 3));
    wrapper->signal(SIGHUP);
    EXPECT_EQ(wrapper->wait(), 3);

    expect_end("s", "exited", "exit 3 after SIGHUP");
}

TEST_F(Interrupted, AlsoWhenTheWrapperHasToStartADaemonToSaySo) {
    for (const auto* how : {"stopped", "killed"}) {
        start(obliging("TERM", 0), how);
        if (how == std::string("stopped")) {
            EXPECT_EQ(daemon.terminate(), 0);
        } else {
            daemon.kill9();
        }
        wrapper->signal(SIGTERM);
        EXPECT_EQ(wrapper->wait(), 0);

        client = Client(home.socket());
        expect_end(how, "completed", "exit 0 after SIGTERM");
        ASSERT_EQ(home.knell({"down"}).status, 0);
        daemon.start();
        client = Client(home.socket());
    }
}

TEST_F(Interrupted, AlsoWhenTheDaemonStoodStillForTooLong) {
    start(obliging("TERM", 0));
    daemon.freeze();
    wrapper->signal(SIGTERM);
    EXPECT_EQ(wrapper->wait(), 0);
    ASSERT_THAT(names_in(home.file("spool")), testing::ElementsAre("s.jsonl"));
    daemon.signal(SIGCONT);

    expect_end("s", "completed", "exit 0 after SIGTERM");
}

TEST_F(Interrupted, AlsoWhenNoDaemonCouldBeStarted) {
    start(obliging("TERM", 6));
    ASSERT_EQ(daemon.terminate(), 0);
    Fd lock{::open(home.file("knell.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
    wrapper->signal(SIGTERM);
    EXPECT_EQ(wrapper->wait(), 6);
    lock.reset();

    daemon.start();
    client = Client(home.socket());

    expect_end("s", "exited", "exit 6 after SIGTERM");
}

TEST_F(Interrupted, WhatDoesNotAskItToEndIsNot) {
    start(obliging("USR1", 0));
    wrapper->signal(SIGWINCH);
    wrapper->signal(SIGUSR1);
    EXPECT_EQ(wrapper->wait(), 0);

    expect_end("s", "completed", "exit 0");
}

TEST_F(Interrupted, NorWhatTheCommandDoesToItsOwnGroup) {
    auto spawn = home.command(
        {"run", "--id", "s", "--", "sh", "-c", "trap 'exit 0' TERM; kill -TERM 0; sleep 600"});
    spawn.argv.insert(spawn.argv.begin(), "setsid");
    EXPECT_EQ(run_command(spawn).status, 0);

    expect_end("s", "completed", "exit 0");
}

TEST_F(Interrupted, CtrlCIsNamed) {
    start_on_terminal(obliging("INT", 0));
    pty.type("\x03");
    EXPECT_EQ(wrapper->wait(), 0);

    expect_end("s", "completed", "exit 0 after SIGINT (Ctrl-C)");
}

TEST_F(Interrupted, AClosedTerminalIsNamed) {
    start_on_terminal(obliging("HUP", 0));
    pty.master.reset();
    EXPECT_EQ(wrapper->wait(), 0);

    expect_end("s", "completed", "exit 0 after SIGHUP (terminal closed)");
}

TEST_F(Interrupted, AWrapperThatSaysNothingHoldsNobodyUp) {
    start("echo up; exec sleep 600");
    wrapper->freeze();
    ::kill(static_cast<pid_t>(number(show("s"), "owner.pid")), SIGKILL);

    expect_end("s", "signaled", "signal 9 (SIGKILL)");
    wrapper->signal(SIGCONT);
    EXPECT_EQ(wrapper->wait(), 128 + SIGKILL);
    EXPECT_EQ(number(show("s"), "generation"), 1);
}

}  // namespace
}  // namespace knell::functional
