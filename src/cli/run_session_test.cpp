#include "cli/run_session.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

namespace knell::cli {
namespace {

TEST(DescribeEnd, ExitNoughtIsCompleted) {
    EXPECT_EQ(describe_end(W_EXITCODE(0, 0)), (RunEnd{"completed", "exit 0"}));
}

TEST(DescribeEnd, AnyOtherCodeIsExited) {
    EXPECT_EQ(describe_end(W_EXITCODE(127, 0)), (RunEnd{"exited", "exit 127"}));
}

TEST(DescribeEnd, ASignalIsNamed) {
    EXPECT_EQ(describe_end(W_EXITCODE(0, SIGKILL)), (RunEnd{"signaled", "signal 9 (SIGKILL)"}));
    EXPECT_EQ(describe_end(W_EXITCODE(0, 40)), (RunEnd{"signaled", "signal 40"}));
}

TEST(DescribeEnd, ACoreDumpDoesNotHideTheSignal) {
    EXPECT_EQ(describe_end(W_EXITCODE(0, SIGSEGV) | WCOREFLAG),
              (RunEnd{"signaled", "signal 11 (SIGSEGV)"}));
}

}  // namespace
}  // namespace knell::cli
