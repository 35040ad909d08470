// knell run on a terminal: keys, sizes and hangups reach the command once, as without it.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/pty.hpp"
#include "platform/proc_stat.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

/// Says which signals reach it, one word each, until SIGTERM.
constexpr auto listener =
    "for s in INT QUIT WINCH HUP USR1; do trap \"echo [$s]\" $s; done; "
    "trap 'kill $!; exit 0' TERM; sleep 600 & echo up; while kill -0 $!; do wait; done";

std::ptrdiff_t count_of(std::string_view word, std::string_view text) {
    std::ptrdiff_t count = 0;
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        ++count;
    }
    return count;
}

class RunOnATerminal : public WithOwners {
  protected:
    /// As the leader of a session on the terminal.
    void start(std::vector<std::string> argv) {
        auto spawn = home.command({});
        spawn.argv = {"setsid", "--ctty"};
        spawn.argv.insert(spawn.argv.end(), argv.begin(), argv.end());
        spawn.in = spawn.out = spawn.err = pty.slave.get();
        process.emplace(spawn);
        pty.slave.reset();
    }
    void start_run(const std::string& script) {
        start({knell_binary(), "run", "--id", "s", "--", "sh", "-c", script});
    }
    /// `$RUN SCRIPT` in it is `knell run` of a shell script.
    void start_shell(const std::string& script) {
        const auto run = fmt::format("RUN='{} run --id s -- sh -c'; ", knell_binary());
        start({"sh", "-c", run + "set -m; " + script});
    }
    pid_t command() { return static_cast<pid_t>(number(show("s"), "owner.pid")); }
    static bool is_stopped(pid_t pid) {
        const auto stat = read_proc_stat(pid);
        return stat && stat->state == 'T';
    }
    /// `knell run` stands still while the command is sent something, and then goes on: what it adds
    /// to that comes before the signal that it passes on last.
    template <typename Act>
    void expect_once(const std::string& word, Act&& act) {
        SCOPED_TRACE(word);
        process->freeze();
        act();
        pty.wait_until_shown(word);
        process->signal(SIGCONT);
        process->signal(SIGUSR1);
        pty.wait_until_shown("[USR1]");
        EXPECT_EQ(count_of(word, pty.shown), 1) << pty.shown;
        pty.shown.clear();
    }

    Pty pty;
    std::optional<Process> process;
};

TEST_F(RunOnATerminal, WhatTheTerminalSendsComesOnce) {
    start_run(listener);
    pty.wait_until_shown("up");

    expect_once("[INT]", [&] { pty.type("\x03"); });
    expect_once("[QUIT]", [&] { pty.type("\x1c"); });
    expect_once("[WINCH]", [&] { pty.resize(43, 97); });

    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0);
    expect_end("s", "completed", "exit 0 after SIGTERM");
}

TEST_F(RunOnATerminal, WhatOthersSendComesOnce) {
    start_run(listener);
    pty.wait_until_shown("up");

    for (const auto& [number, word] : {std::pair{SIGINT, "[INT]"}, {SIGWINCH, "[WINCH]"}}) {
        process->signal(number);
        pty.wait_until_shown(word);
        process->signal(SIGUSR1);
        pty.wait_until_shown("[USR1]");
        EXPECT_EQ(count_of(word, pty.shown), 1) << pty.shown;
        pty.shown.clear();
    }
}

TEST_F(RunOnATerminal, ANewSizeIsTheCommandsSize) {
    pty.resize(24, 80);
    start_run("trap 'stty size; kill $!; exit 0' WINCH; stty size; sleep 600 & wait");
    pty.wait_until_shown("24 80");

    pty.resize(43, 97);

    pty.wait_until_shown("43 97");
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(RunOnATerminal, CtrlZGivesTheShellItsTerminalBackAndFgTheCommandToGoOnWith) {
    start_shell(
        "$RUN 'echo up; read line; echo \"got $line\"; exit 5'; echo shell; read go; fg; "
        "echo \"ended $?\"");
    pty.wait_until_shown("up");
    const auto owner = command();

    pty.type("\x1a");

    pty.wait_until_shown("shell");
    EXPECT_TRUE(is_stopped(owner));
    EXPECT_TRUE(is_open("s"));

    pty.type("go\n");
    until([&] { return !is_stopped(owner); }, "the command to go on");
    pty.type("hello\n");
    pty.wait_until_shown("got hello");
    pty.wait_until_shown("ended 5");
    EXPECT_EQ(process->wait(), 0);
    expect_end("s", "exited", "exit 5");
}

TEST_F(RunOnATerminal, InTheBackgroundItWaitsForItsTurnToRead) {
    start_shell(
        "$RUN 'echo up; read line; echo \"got $line\"; exit 5' & read go; fg; "
        "echo \"ended $?\"");
    pty.wait_until_shown("up");
    const auto owner = command();
    const auto wrapper = read_proc_stat(owner)->parent;
    until([&] { return is_stopped(owner) && is_stopped(wrapper); }, "both to stop");
    EXPECT_TRUE(is_open("s"));

    pty.type("go\n");
    until([&] { return !is_stopped(owner); }, "the command to go on");
    pty.type("hello\n");

    pty.wait_until_shown("got hello");
    pty.wait_until_shown("ended 5");
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(RunOnATerminal, AHangupIsToldOnce) {
    const auto heard = home.file("heard");
    start_run(fmt::format("exec > {}; {}", heard, listener));
    until([&] { return read_file(heard).contains("up"); }, "the command");

    pty.master.reset();

    until([&] { return read_file(heard).contains("[HUP]"); }, "SIGHUP");
    process->signal(SIGUSR1);
    until([&] { return read_file(heard).contains("[USR1]"); }, "SIGUSR1");
    EXPECT_EQ(count_of("[HUP]", read_file(heard)), 1) << read_file(heard);
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(RunOnATerminal, AHangupEndsWhatDoesNotMindIt) {
    start_run("echo up; exec sleep 600");
    pty.wait_until_shown("up");

    pty.master.reset();

    EXPECT_EQ(process->wait(), 128 + SIGHUP);
    const auto session = ended("s");
    EXPECT_EQ(text(session, "reason"), "signaled");
    EXPECT_THAT(text(session, "detail"), HasSubstr("SIGHUP"));
}

TEST_F(RunOnATerminal, InRawModeEveryKeyIsAByte) {
    start_run("stty raw -echo; echo up; dd bs=1 count=5 2>/dev/null | od -An -tx1");
    pty.wait_until_shown("up");

    pty.type("\x03\x1a\x04\x1c\r");

    pty.wait_until_shown("03 1a 04 1c 0d");
    EXPECT_EQ(process->wait(), 0);
    expect_end("s", "completed", "exit 0");
}

TEST_F(RunOnATerminal, ItsModeIsLeftAsTheCommandLeftIt) {
    start_run("stty raw -echo; echo up; exec sleep 600");
    pty.wait_until_shown("up");
    const auto raw = pty.mode();
    EXPECT_EQ(raw.c_lflag & (ICANON | ECHO | ISIG), 0U);

    ::kill(command(), SIGKILL);

    EXPECT_EQ(process->wait(), 128 + SIGKILL);
    const auto after = pty.mode();
    EXPECT_EQ(after.c_iflag, raw.c_iflag);
    EXPECT_EQ(after.c_oflag, raw.c_oflag);
    EXPECT_EQ(after.c_lflag, raw.c_lflag);
    EXPECT_TRUE(std::ranges::equal(after.c_cc, raw.c_cc));
    expect_end("s", "signaled", "signal 9 (SIGKILL)");
}

}  // namespace
}  // namespace knell::functional
