// The socket belongs to one daemon: nobody takes it, it comes back by itself, and a daemon without
// one is still found.

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ino_t inode_of(const std::string& path) {
    struct stat found{};
    return lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

/// Somebody else who listens at a path.
class Listener {
  public:
    explicit Listener(const std::string& path)
        : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::ranges::copy(path, std::begin(address.sun_path));
        if (bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            listen(fd_.get(), 8) != 0) {
            throw std::runtime_error("cannot listen at " + path);
        }
    }
    void close() { fd_.reset(); }

  private:
    Fd fd_;
};

bool answers(const std::string& socket) {
    try {
        return Client(socket).call("node.status").ok();
    } catch (const std::exception&) {
        return false;
    }
}

class Socket : public WithOwners {
  protected:
    /// Puts a directory in the socket's place: it cannot be bound again.
    void block() {
        daemon.freeze();  // or it might be quicker
        fs::remove(home.socket());
        fs::create_directory(home.socket());
        daemon.signal(SIGCONT);
    }
};

TEST_F(Socket, WhatIsNoSocketIsNotTakenOutOfTheWay) {
    daemon.terminate();
    write_file(home.socket(), "a person's notes");
    const auto outcome = run_command(home.command({"up"}));

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("is not a socket but a file"));
    EXPECT_EQ(read_file(home.socket()), "a person's notes");

    std::filesystem::remove(home.socket());
    std::filesystem::create_directory(home.socket());
    EXPECT_THAT(run_command(home.command({"up"})).err, HasSubstr("but a directory"));
    std::filesystem::remove(home.socket());
    daemon.start();
}

TEST_F(Socket, ADeletedOneIsBoundAgainAndConnectionsStay) {
    fs::remove(home.socket());

    daemon.wait_for_log("bound again");

    EXPECT_TRUE(answers(home.socket()));
    EXPECT_EQ(mode_of(home.socket()), 0600U);
    EXPECT_TRUE(client.call("node.status").ok()) << "who was connected was cut off";
}

TEST_F(Socket, AFileInItsPlaceIsLeftThereUntilSomebodyTakesItAway) {
    write_file(home.file("other"), "not a socket");
    fs::rename(home.file("other"), home.socket());
    daemon.wait_for_log("is not a socket but a file");
    EXPECT_EQ(read_file(home.socket()), "not a socket");

    fs::remove(home.socket());
    daemon.wait_for_log("bound again");

    EXPECT_TRUE(answers(home.socket()));
}

TEST_F(Socket, OneThatSomebodyElseAnswersIsNeitherTakenNorDeleted) {
    Listener other(home.file("other"));
    fs::rename(home.file("other"), home.socket());
    const auto theirs = inode_of(home.socket());
    daemon.wait_for_log("something else listens");

    EXPECT_EQ(daemon.terminate(), 0);

    EXPECT_EQ(inode_of(home.socket()), theirs);
    const auto refused = refused_start(home);
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("something else listens"));
    EXPECT_EQ(inode_of(home.socket()), theirs);
    other.close();
    daemon.start();
    EXPECT_TRUE(answers(home.socket()));
}

TEST_F(Socket, LocksThatWereDeletedAreTakenAgain) {
    for (const auto* name : {"knell.lock", "knell.sock.lock"}) {
        fs::remove(home.file(name));
        until([&] { return fs::exists(home.file(name)); }, "the lock to come back");
    }
    until([&] { return read_file(home.file("knell.lock")).contains("socket"); }, "its text");

    const auto second = refused_start(home);

    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.err, HasSubstr(fmt::format("process {} already runs", daemon.pid())));
    EXPECT_TRUE(answers(home.socket()));
}

TEST_F(Socket, DownFindsADaemonByItsLock) {
    block();

    const auto down = home.knell({"down"});

    EXPECT_EQ(down.status, 0) << down.err;
    EXPECT_EQ(down.out, fmt::format("stopped: pid {}\n", daemon.pid()));
    fs::remove(home.socket());
    daemon.start();
    reconnect();
    EXPECT_EQ(count_events("gateway:shutdown"), 1U);
}

TEST_F(Socket, StatusSaysThatADaemonRunsWhichCannotBeReached) {
    block();

    const auto status = home.knell({"status"});

    EXPECT_EQ(status.status, 1);
    EXPECT_THAT(status.err, HasSubstr(fmt::format("a daemon runs, process {}", daemon.pid())));
    fs::remove(home.socket());
    until([&] { return answers(home.socket()); }, "the socket");
}

TEST_F(Socket, DownSignalsNobodyWhoIsNotProvenToHoldTheLock) {
    block();
    auto innocent = idle_process();
    auto lock = read_file(home.file("knell.lock"));
    lock.replace(0, lock.find('\n'), fmt::to_string(innocent.pid()));
    write_file(home.file("knell.lock"), lock);

    const auto down = home.knell({"down"});

    EXPECT_EQ(down.status, 1);
    EXPECT_THAT(down.err, HasSubstr("nothing was stopped"));
    EXPECT_TRUE(is_running(innocent.pid()));
    EXPECT_TRUE(is_running(daemon.pid()));
    // For the end of the test, which finds the daemon by its lock.
    lock.replace(0, lock.find('\n'), fmt::to_string(daemon.pid()));
    write_file(home.file("knell.lock"), lock);
}

TEST_F(Socket, UpFindsADaemonWhoseSocketIsGone) {
    fs::remove(home.socket());

    const auto up = home.knell({"up", "--detach"});

    EXPECT_EQ(up.status, 0) << up.err;
    EXPECT_EQ(up.out, fmt::format("a daemon runs already: pid {}, socket {}\n", daemon.pid(),
                                  home.socket()));
    const auto run = home.knell({"run", "--", "true"});
    EXPECT_EQ(run.err, "");
}

TEST_F(Socket, UpFindsADaemonWhoseLocksAreGoneToo) {
    for (const auto* name : {"knell.lock", "knell.sock.lock", "knell.sock"}) {
        fs::remove(home.file(name));
    }

    const auto up = home.knell({"up", "--detach"});

    EXPECT_EQ(up.status, 0) << up.err;
    EXPECT_THAT(up.out, HasSubstr(fmt::format("pid {},", daemon.pid())));
    EXPECT_THAT(daemon.log(), Not(HasSubstr("ends at once")));
}

TEST_F(Socket, WhileOneFrozenDaemonHasTheHomeNoSecondWritesToItsStore) {
    daemon.freeze();
    for (const auto* name : {"knell.lock", "knell.sock.lock", "knell.sock"}) {
        fs::remove(home.file(name));
    }

    const auto second = refused_start(home);
    const auto down = home.knell({"down"});
    daemon.signal(SIGCONT);
    EXPECT_EQ(down.status, 1) << "it runs";
    EXPECT_THAT(down.err, HasSubstr("nothing was stopped; `fuser -v "));

    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.err, HasSubstr("another daemon runs in " + home.path()));
    daemon.wait_for_log("bound again");
    EXPECT_TRUE(answers(home.socket()));
}

TEST_F(Socket, UpWhileTheDaemonIsGoingStartsTheNext) {
    for (int round = 0; round < 5; ++round) {
        const auto pid = number(Client(home.socket()).must("node.status"), "pid");
        ASSERT_EQ(::kill(static_cast<pid_t>(pid), SIGTERM), 0);
        const auto next_is_up = [&] {
            const auto up = home.knell({"up", "--detach"});
            EXPECT_EQ(up.status, 0) << up.err;
            // It may have been asked before it heard the signal.
            return !up.out.contains(fmt::format("pid {},", pid));
        };
        until(next_is_up, "the next daemon");
    }
}

TEST_F(Socket, ADaemonOfAnotherHomeDoesNotTakeTheSocketOfTheSessionItWasStartedIn) {
    const TempHome other;
    auto spawn = other.command({"up", "--detach"});
    spawn.environment["KNELL_SOCKET"] = home.socket();
    const auto ours = inode_of(home.socket());

    const auto up = run_command(spawn);

    ASSERT_EQ(up.status, 0) << up.err;
    EXPECT_THAT(up.out, HasSubstr(other.socket()));
    EXPECT_THAT(up.err, HasSubstr(home.socket()));
    EXPECT_EQ(text(Client(other.socket()).must("node.status"), "home"), other.path());
    EXPECT_EQ(text(Client(home.socket()).must("node.status"), "home"), home.path());
    spawn.argv = {knell_binary(), "down"};
    EXPECT_EQ(run_command(spawn).status, 0);
    EXPECT_EQ(inode_of(home.socket()), ours);
    EXPECT_TRUE(answers(home.socket()));
    EXPECT_FALSE(answers(other.socket()));
}

TEST_F(Socket, NoDaemonIsStartedForASocketThatItWouldNotListenAt) {
    const TempHome other;
    auto spawn = other.command({"run", "--", "true"});
    spawn.environment["KNELL_SOCKET"] = "/nonexistent/knell.sock";

    const auto run = run_command(spawn);

    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.err, HasSubstr("KNELL_SOCKET"));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_FALSE(fs::exists(other.file("knell.lock"))) << "a daemon was started";
    EXPECT_EQ(names_in(other.file("spool")).size(), 1U);
}

TEST_F(Socket, ADaemonWhoseHomeWasDeletedGivesWayToTheNextOne) {
    daemon.freeze();  // so that the next one is here before it looks
    fs::remove_all(home.path());
    ASSERT_EQ(home.knell({"up", "--detach"}).status, 0);
    ASSERT_EQ(home.knell({"down"}).status, 0);
    daemon.signal(SIGCONT);

    daemon.wait_for_log("ends at once");

    const auto up = home.knell({"up", "--detach"});
    EXPECT_EQ(up.status, 0) << up.err;
    const auto next = Client(home.socket()).must("node.status");
    EXPECT_NE(number(next, "pid"), daemon.pid());
    EXPECT_TRUE(array(next, "degraded").empty());
}

}  // namespace
}  // namespace knell::functional
