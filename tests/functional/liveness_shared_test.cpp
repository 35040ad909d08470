// What serves others is named and never stopped, though one session started it: a terminal
// multiplexer, and the sessions that live in it.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A tmux server that a session with `--leftovers stop` started.  The session ends when told to.
class SharedServer : public WithOwners {
  protected:
    void SetUp() override {
        if (run_command({.argv = {"tmux", "-V"}}).status != 0) GTEST_SKIP() << "needs tmux";
        tmux_.environment = {{"TMUX_TMPDIR", home.path()}, {"PATH", system_path}};
        auto spawn = home.command(
            {"run", "--id", "s", "--leftovers", "stop", "--", "sh", "-c",
             "tmux -f /dev/null new-session -d -s first sleep 601; echo ready; read line"});
        spawn.environment["TMUX_TMPDIR"] = home.path();
        spawn.in = in_.reading.get();
        spawn.out = out_.writing.get();
        command_.emplace(spawn);
        out_.writing.reset();
        std::string said;
        while (!said.contains("ready")) ASSERT_TRUE(read_available(out_.reading.get(), said));
        server_.emplace(pid_of("#{pid}"));
    }
    void TearDown() override {
        if (server_) tmux({"kill-server"});
    }

    Outcome tmux(std::vector<std::string> arguments) {
        auto spawn = tmux_;
        spawn.argv = {"tmux"};
        spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
        return run_command(spawn);
    }
    pid_t pid_of(const std::string& format) {
        return static_cast<pid_t>(std::stol(tmux({"display-message", "-p", format}).out));
    }
    /// Opens a window from outside the session; the pid of what runs in it.
    pid_t open_window(const std::string& what) {
        const auto opened =
            tmux({"new-window", "-d", "-P", "-F", "#{pane_pid}", "-t", "first", what});
        EXPECT_EQ(opened.status, 0) << opened.err;
        return static_cast<pid_t>(std::stol(opened.out));
    }
    std::string end_session() {
        in_.writing.reset();
        command_->wait();
        return read_to_end(out_.reading.get());
    }
    std::string fate_of(pid_t pid) {
        for (const auto& leftover : array(ended("s"), "leftovers")) {
            if (number(leftover, "pid") == pid) return std::string(text(leftover, "fate"));
        }
        return "not named";
    }

    Spawn tmux_;
    Pipe in_;
    Pipe out_;
    std::optional<Process> command_;
    std::optional<Stray> server_;
};

TEST_F(SharedServer, IsNamedAndItsWindowsLiveOn) {
    const Stray window(open_window("sleep 602"));

    end_session();

    EXPECT_EQ(fate_of(server_->pid()), "shared");
    EXPECT_EQ(fate_of(window.pid()), "shared");
    let_observers_speak();
    EXPECT_TRUE(server_->is_running());
    EXPECT_TRUE(window.is_running());
}

TEST_F(SharedServer, KeepsAnotherLiveSessionInIt) {
    const Stray window(open_window(
        fmt::format("KNELL_HOME={} {} run --id inner -- sleep 603", home.path(), knell_binary())));
    until([&] { return client.call("session.show", R"({"session_id":"inner"})").ok(); },
          "the session in the window");
    const auto owner = static_cast<pid_t>(number(show("inner"), "owner.pid"));

    end_session();

    EXPECT_EQ(fate_of(owner), "not named");
    let_observers_speak();
    EXPECT_TRUE(is_open("inner"));
    EXPECT_TRUE(window.is_running());
    EXPECT_TRUE(is_running(owner));
}

TEST_F(SharedServer, IsSparedEvenWhenTheWrapperWasKilled) {
    const Stray window(open_window("sleep 602"));
    const auto owner = static_cast<pid_t>(number(show("s"), "owner.pid"));
    command_->signal(SIGKILL);
    command_->wait();
    const Stray command(owner);

    command.kill();

    EXPECT_EQ(fate_of(server_->pid()), "shared");
    EXPECT_EQ(fate_of(window.pid()), "shared");
    let_observers_speak();
    EXPECT_TRUE(window.is_running());
}

}  // namespace
}  // namespace knell::functional
