// Where a daemon is there already, and where none can be started.  What it takes to start one is in
// tests/functional: it would be this very binary.

#include "client/start_daemon.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "platform/lock_file.hpp"
#include "testing/fake_daemon.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell::client {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using knell::testing::FakeDaemon;
using ::testing::HasSubstr;

std::vector<std::string> no_variables(const Paths&) {
    return {};
}

class StartDaemon : public ::testing::Test {
  protected:
    Result<Connection> start(std::chrono::milliseconds budget = 30s) {
        return start_daemon(paths_, no_variables, Deadline{budget});
    }
    /// Starts while the kernel refuses a call; the message.
    std::string start_refused(const std::vector<long>& calls, int error) {
        std::string message;
        knell::testing::with_refused_calls(calls, error, [&] {
            const auto started = start();
            message = started ? "started" : started.error().message;
        });
        return message;
    }
    void expect_failure(const Result<Connection>& started, const std::string& why) {
        ASSERT_FALSE(started);
        EXPECT_THAT(started.error().message, HasSubstr(why));
    }

    const knell::testing::TempFolder folder_;
    Paths paths_ = knell::testing::paths_in(folder_.path());
};

TEST_F(StartDaemon, TheOneThatRunsIsTaken) {
    const FakeDaemon daemon(paths_, {.home = paths_.state_dir});
    const auto started = start();
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(started->peer(), daemon.pid());
}

TEST_F(StartDaemon, OneThatHoldsTheLockAndDoesNotAnswerIsNamed) {
    const FakeDaemon daemon(paths_, {.listens = false});
    expect_failure(start(10ms), "does not answer at " + paths_.listen_socket);
    EXPECT_TRUE(daemon.is_running());
}

TEST_F(StartDaemon, OneWhoseStatusFailsHasNotAnswered) {
    const FakeDaemon daemon(paths_, {.knows_its_status = false});
    expect_failure(start(200ms), "does not answer at " + paths_.listen_socket);
}

TEST_F(StartDaemon, OneThatDoesNotSayWhoItIsIsStillThere) {
    const FakeDaemon daemon(paths_, {.listens = false});
    fs::resize_file(paths_.lock_file, 0);
    expect_failure(start(10ms), "and the file does not say who it is; `fuser ");
}

TEST_F(StartDaemon, OneThatListensElsewhereIsNotWaitedFor) {
    const FakeDaemon daemon(paths_, {.listens = false, .says_it_listens_at = "/elsewhere/sock"});
    expect_failure(start(), "To use it: export KNELL_SOCKET=/elsewhere/sock");
}

TEST_F(StartDaemon, WhereTheSocketIsOfAnotherHomeNoneIsStarted) {
    paths_.runtime_dir = folder_.path() + "/run";
    paths_.listen_socket = paths_.runtime_dir + "/knell.sock";
    fs::create_directory(paths_.runtime_dir);
    const auto held = LockFile::acquire(lock_beside(paths_.listen_socket),
                                        {.home = "/another", .socket = paths_.listen_socket});
    ASSERT_TRUE(held && *held);
    expect_failure(start(), "is that of another home, /another");
}

TEST_F(StartDaemon, AHomeThatCannotBeMadeIsNamed) {
    paths_.state_dir = folder_.path() + "/file/home";
    std::ofstream(folder_.path() + "/file") << "in the way";
    expect_failure(start(), paths_.state_dir);
}

TEST_F(StartDaemon, AHomeOfAllUsersIsRefused) {
    ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);
    expect_failure(start(), "shared by all users");
}

TEST_F(StartDaemon, ALogThatIsNoFileIsRefused) {
    ASSERT_EQ(mkfifo(paths_.log_file.c_str(), 0600), 0);
    expect_failure(start(), "it cannot log to " + paths_.log_file + ": it is a named pipe");
    fs::remove(paths_.log_file);
    ASSERT_EQ(mknod(paths_.log_file.c_str(), S_IFSOCK | 0600, 0), 0);
    expect_failure(start(), "it cannot log to " + paths_.log_file + ": it is a socket");
}

TEST_F(StartDaemon, ALogThatSomebodyReadsIsNoFileEither) {
    ASSERT_EQ(mkfifo(paths_.log_file.c_str(), 0600), 0);
    const Fd reader{::open(paths_.log_file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    ASSERT_TRUE(reader);
    expect_failure(start(), "it is a named pipe; move it away");
}

TEST_F(StartDaemon, WhatTheKernelRefusesIsSaid) {
    EXPECT_THAT(start_refused({SYS_socketpair}, EMFILE), HasSubstr("socketpair: Too many open"));
    EXPECT_THAT(start_refused({SYS_clone, SYS_clone3, SYS_fork}, EAGAIN),
                HasSubstr("fork: Resource temporarily unavailable"));
}

TEST_F(StartDaemon, ForTheSocketOfAnotherHomeNoneIsStarted) {
    paths_.socket = "/nonexistent/knell.sock";
    paths_.socket_is_named = true;
    expect_failure(connect_or_start(paths_, no_variables, Deadline{30s}),
                   "which KNELL_SOCKET names, and none is started");
    EXPECT_FALSE(fs::exists(paths_.log_file));
}

}  // namespace
}  // namespace knell::client
