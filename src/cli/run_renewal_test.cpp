#include "cli/run_renewal.hpp"

#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/fake_daemon.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A command that lives until this goes.
class Command {
  public:
    Command() : pid_(::fork()) {
        if (pid_ != 0) return;
        for (;;) ::pause();
    }
    ~Command() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;
    pid_t pid() const { return pid_; }

  private:
    const pid_t pid_;
};

class RenewalTrial : public ::testing::Test {
  protected:
    const knell::testing::TempFolder folder_;
    const Paths paths_ = knell::testing::paths_in(folder_.path());
    RunSession session_{paths_, {{"id", "s"}}};
    const Command command_;
    LeaseRenewal renewal_{session_, paths_.socket, command_.pid()};

    /// Until it has ended; it is left to be reaped.
    static void wait_for(pid_t pid) {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
    }
    /// Ends the process that renews, as somebody's kill -9 would.
    void kill_renewer() const {
        ::kill(renewal_.process(), SIGKILL);
        wait_for(renewal_.process());
    }
};

TEST_F(RenewalTrial, WithoutAProcessItIsTriedAgainASecondLater) {
    knell::testing::with_refused_calls({SYS_clone, SYS_clone3}, EAGAIN, [&] {
        EXPECT_GT(renewal_.tend(), 0ms);
        EXPECT_EQ(renewal_.process(), 0);
    });
}

TEST_F(RenewalTrial, OneThatIsKilledIsFollowedByAnother) {
    EXPECT_EQ(renewal_.tend(), std::nullopt);
    const auto first = renewal_.process();
    ASSERT_GT(first, 0);
    EXPECT_EQ(renewal_.tend(), std::nullopt) << "it renews";
    EXPECT_EQ(renewal_.process(), first);

    ::testing::internal::CaptureStderr();
    kill_renewer();
    EXPECT_GT(renewal_.tend(), 0ms) << "it did not live for a second: not at once";

    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("was killed; another one"));
    EXPECT_EQ(renewal_.process(), 0);
}

TEST_F(RenewalTrial, OfASeriesOfThemOneIsComplainedOf) {
    const auto kill_the_next = [this] {
        do renewal_.tend();
        while (renewal_.process() == 0);
        kill_renewer();
        renewal_.tend();
    };
    kill_the_next();
    ::testing::internal::CaptureStderr();
    kill_the_next();
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(RenewalTrial, ItIsOverWithTheCommand) {
    EXPECT_EQ(renewal_.tend(), std::nullopt);
    ::kill(command_.pid(), SIGKILL);
    wait_for(renewal_.process());
    EXPECT_EQ(renewal_.tend(), std::nullopt);
    EXPECT_EQ(renewal_.process(), 0);
}

TEST_F(RenewalTrial, ASessionThatCannotBeOpenedAgainYetIsTriedAgain) {
    const knell::testing::FakeDaemon daemon(
        paths_, {.answer = [](const std::string& line) -> std::string {
            if (line.contains("session.heartbeat")) return R"("result":{"ended":["s"]})";
            return R"("error":{"code":-32008,"message":"no","data":{"kind":"storage"}})";
        }});
    // The first one waits for a third of the lease before it renews; the next one does not.
    renewal_.tend();
    kill_renewer();
    do renewal_.tend();
    while (renewal_.process() == 0);
    wait_for(renewal_.process());

    EXPECT_GT(renewal_.tend(), 0ms);
    EXPECT_EQ(renewal_.process(), 0);
}

}  // namespace
}  // namespace knell::cli
