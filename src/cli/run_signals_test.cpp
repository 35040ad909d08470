#include "cli/run_signals.hpp"

#include <array>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace knell::cli {
namespace {

std::optional<std::chrono::milliseconds> nothing_to_tend() {
    return std::nullopt;
}

/// Gives back what RunSignals takes, for the tests that follow.
class RunSignalsTrial : public ::testing::Test {
  protected:
    ~RunSignalsTrial() override { signals_.restore(); }
    const RunSignals signals_;
};

TEST_F(RunSignalsTrial, AChildThatSomebodyElseWaitedForHasFailed) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);

    const auto outcome = signals_.wait_for(child, nothing_to_tend);

    EXPECT_EQ(outcome.wait_status, W_EXITCODE(1, 0)) << "0 would say that it was done";
    EXPECT_FALSE(outcome.interruption);
}

TEST_F(RunSignalsTrial, AChildIsLeftToBeSeen) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(7);

    EXPECT_EQ(signals_.wait_for(child, nothing_to_tend).wait_status, W_EXITCODE(7, 0));

    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WNOHANG), child) << "it was reaped";
    EXPECT_EQ(status, W_EXITCODE(7, 0));
}

TEST_F(RunSignalsTrial, OrphansThatEndMeanwhileAreReaped) {
    const pid_t orphan = ::fork();
    if (orphan == 0) ::_exit(0);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(orphan), &info, WEXITED | WNOWAIT);
    std::array<int, 2> gate{};
    ASSERT_EQ(::pipe2(gate.data(), O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(gate[1]);
        char byte = 0;
        ::_exit(::read(gate[0], &byte, 1) == 0 ? 5 : 6);
    }
    int looks = 0;

    const auto outcome =
        signals_.wait_for(child, [&]() -> std::optional<std::chrono::milliseconds> {
            // By the second time the orphan has been met.
            if (++looks == 2) ::close(gate[1]);
            return std::nullopt;
        });

    EXPECT_EQ(outcome.wait_status, W_EXITCODE(5, 0));
    EXPECT_LT(::waitpid(orphan, nullptr, WNOHANG), 0) << "nobody has waited for it";
    ::close(gate[0]);
    ::waitpid(child, nullptr, 0);
}

/// In a process of its own: a job in the background of a terminal, whose command ends after the
/// terminal was closed.  Nobody tells such a job: a hangup goes to the leader and the foreground.
void end_in_the_background_of_a_closed_terminal() {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) ::_exit(9);
    ::signal(SIGHUP, SIG_IGN);
    ::setsid();
    if (::open(::ptsname(master), O_RDWR) < 0) ::_exit(9);  // ours, as the leader's first one
    std::array<int, 2> closed{};
    if (::pipe(closed.data()) != 0) ::_exit(9);
    const pid_t job = ::fork();
    if (job != 0) {
        int status = 0;
        ::close(master);
        ::close(closed[1]);
        ::waitpid(job, &status, 0);
        ::_exit(WEXITSTATUS(status));
    }
    ::setpgid(0, 0);
    const RunSignals signals;
    // Closed here last: that is the hangup.
    ::close(closed[1]);
    char byte = 0;
    if (::read(closed[0], &byte, 1) != 0) ::_exit(9);
    ::close(master);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    const auto last = signals.wait_for(child, nothing_to_tend).interruption;
    ::_exit(last && last->signal == 0 && last->by_terminal ? 0 : 1);
}

TEST(RunSignalsAlone, ATerminalThatIsGoneInterruptsAlsoWhereNobodyTellsOfIt) {
    EXPECT_EXIT(end_in_the_background_of_a_closed_terminal(), ::testing::ExitedWithCode(0), "");
}

TEST(EndLike, IsTheExitCodeOrTheSignal) {
    EXPECT_EXIT(::_exit(end_like(W_EXITCODE(3, 0))), ::testing::ExitedWithCode(3), "");
    EXPECT_EXIT(::_exit(end_like(SIGTERM)), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(EndLike, WhoSurvivesTheSignalExitsAsAShellWouldSayIt) {
    EXPECT_EXIT(::_exit(end_like(SIGURG)), ::testing::ExitedWithCode(128 + SIGURG), "");
}

}  // namespace
}  // namespace knell::cli
