// Who is asked to stop, who is signalled, and who is left alone.

#include "client/stop_daemon.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "platform/lock_file.hpp"
#include "testing/fake_daemon.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell::client {
namespace {

using namespace std::chrono_literals;
using knell::testing::FakeDaemon;
using ::testing::HasSubstr;

class StopDaemon : public ::testing::Test {
  protected:
    /// Waits long, for what happens; or briefly, for what does not.
    Result<std::optional<pid_t>> stop(std::chrono::milliseconds budget = 30s) {
        return stop_daemon(paths_, Deadline{budget});
    }
    Result<std::optional<pid_t>> stop_refused(long call, int error,
                                              std::chrono::milliseconds budget = 30s) {
        Result<std::optional<pid_t>> stopped;
        knell::testing::with_refused_calls({call}, error, [&] { stopped = stop(budget); });
        return stopped;
    }
    void expect_stopped(const FakeDaemon& daemon) {
        const auto stopped = stop();
        ASSERT_TRUE(stopped) << stopped.error().message;
        EXPECT_EQ(*stopped, daemon.pid());
        EXPECT_FALSE(daemon.is_running());
    }
    void expect_left(const FakeDaemon& daemon, const Result<std::optional<pid_t>>& stopped,
                     const std::string& why) {
        ASSERT_FALSE(stopped);
        EXPECT_THAT(stopped.error().message, HasSubstr(why));
        EXPECT_TRUE(daemon.is_running());
    }

    const knell::testing::TempFolder folder_;
    const Paths paths_ = knell::testing::paths_in(folder_.path());
};

TEST_F(StopDaemon, NobodyIsThereToStop) {
    const auto stopped = stop();
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(*stopped, std::nullopt);
}

TEST_F(StopDaemon, OneThatAnswersIsAsked) {
    const FakeDaemon daemon(paths_, {.home = paths_.state_dir, .heeds_sigterm = false});
    expect_stopped(daemon);
}

TEST_F(StopDaemon, OneThatDoesNotSayWhoseItIsIsAskedToo) {
    const FakeDaemon daemon(paths_, {.home = "", .heeds_sigterm = false});
    expect_stopped(daemon);
}

TEST_F(StopDaemon, OneThatDoesNotListenIsSignalled) {
    const FakeDaemon daemon(paths_, {.listens = false});
    expect_stopped(daemon);
}

TEST_F(StopDaemon, OneThatCannotReadItsStoreIsSignalled) {
    const FakeDaemon daemon(paths_, {.knows_its_status = false, .stops = false});
    expect_stopped(daemon);
}

TEST_F(StopDaemon, ThatOfAnotherHomeIsLeftAlone) {
    const knell::testing::TempFolder theirs;
    auto their_paths = knell::testing::paths_in(theirs.path());
    their_paths.listen_socket = paths_.listen_socket;
    const FakeDaemon daemon(their_paths, {.home = theirs.path()});

    const auto stopped = stop();

    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(*stopped, std::nullopt);
    EXPECT_TRUE(daemon.is_running());
}

TEST_F(StopDaemon, OneThatRefusesIsLeftAndHeard) {
    const FakeDaemon daemon(
        paths_, {.home = paths_.state_dir,
                 .stops = false,
                 .answer_to_stop = R"("error":{"code":-32001,"message":"not by you"})"});
    expect_left(daemon, stop(), "not by you");
}

TEST_F(StopDaemon, OneThatWasAskedAndStaysIsNamed) {
    const FakeDaemon daemon(
        paths_, {.home = paths_.state_dir, .stops = false, .answer_to_stop = R"("result":{})"});
    expect_left(daemon, stop(300ms), "was asked to stop but still runs");
}

TEST_F(StopDaemon, OneThatIsStoppedIsToGoOnFirst) {
    const FakeDaemon daemon(paths_, {.listens = false});
    ::kill(daemon.pid(), SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(daemon.pid(), &status, WUNTRACED), daemon.pid());
    expect_left(daemon, stop(10ms), fmt::format("kill -CONT {}", daemon.pid()));
    ::kill(daemon.pid(), SIGCONT);
}

TEST_F(StopDaemon, OneThatWasSignalledAndStaysIsNamed) {
    const FakeDaemon daemon(paths_, {.listens = false, .heeds_sigterm = false});
    expect_left(daemon, stop(10ms),
                fmt::format("the daemon, pid {}, was asked to stop but still runs. See its log, "
                            "and end it with: kill {}",
                            daemon.pid(), daemon.pid()));
}

TEST_F(StopDaemon, WithoutAPidfdItsLockTellsThatItIsGone) {
    const FakeDaemon daemon(paths_, {.home = paths_.state_dir});
    const auto stopped = stop_refused(SYS_pidfd_open, ENOSYS);
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(*stopped, daemon.pid());
    EXPECT_FALSE(lock_holder(paths_.lock_file)) << "that is all there is to go by";
    daemon.wait_until_dead();
}

TEST_F(StopDaemon, WithoutAPidfdOneThatStaysIsFoundByItsLock) {
    const FakeDaemon daemon(
        paths_, {.home = paths_.state_dir, .stops = false, .answer_to_stop = R"("result":{})"});
    expect_left(daemon, stop_refused(SYS_pidfd_open, ENOSYS, 300ms),
                "was asked to stop but still holds " + paths_.lock_file);
}

TEST_F(StopDaemon, WithoutAPidfdNobodyIsSignalled) {
    const FakeDaemon daemon(paths_, {.listens = false});
    expect_left(daemon, stop_refused(SYS_pidfd_open, ENOSYS), "nothing was stopped");
}

TEST_F(StopDaemon, ASignalThatIsRefusedIsSaid) {
    const FakeDaemon daemon(paths_, {.listens = false});
    expect_left(daemon, stop_refused(SYS_pidfd_send_signal, EPERM),
                "cannot be signalled: Operation not permitted");
}

TEST_F(StopDaemon, AWaitThatTheKernelRefusesIsAnError) {
    const FakeDaemon daemon(paths_, {.listens = false, .heeds_sigterm = false});
    expect_left(daemon, stop_refused(SYS_poll, ENOMEM), "Cannot allocate memory");
}

TEST_F(StopDaemon, WithoutADescriptorNobodyIsCalledGone) {
    const FakeDaemon daemon(paths_, {.home = paths_.state_dir});
    expect_left(daemon, stop_refused(SYS_socket, EMFILE), "Too many open files");
}

}  // namespace
}  // namespace knell::client
