#include "cli/run_session.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

namespace knell::cli {
namespace {

TEST(DescribeEnd, ExitNoughtIsCompleted) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, 0), {}}), (RunEnd{"completed", "exit 0"}));
}

TEST(DescribeEnd, AnyOtherCodeIsExited) {
    EXPECT_EQ(describe_end({W_EXITCODE(127, 0), {}}), (RunEnd{"exited", "exit 127"}));
}

TEST(DescribeEnd, ASignalIsNamed) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGKILL), {}}),
              (RunEnd{"signaled", "signal 9 (SIGKILL)"}));
    EXPECT_EQ(describe_end({W_EXITCODE(0, 40), {}}), (RunEnd{"signaled", "signal 40"}));
}

TEST(DescribeEnd, ACoreDumpDoesNotHideTheSignal) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGSEGV) | WCOREFLAG, {}}),
              (RunEnd{"signaled", "signal 11 (SIGSEGV)"}));
}

TEST(DescribeEnd, WhatAskedTheCommandToEndIsNamed) {
    const int done = W_EXITCODE(0, 0);
    EXPECT_EQ(describe_end({done, Interruption{.signal = SIGHUP, .by_terminal = true}}),
              (RunEnd{"completed", "exit 0 after SIGHUP (terminal closed)"}));
    EXPECT_EQ(describe_end({done, Interruption{.signal = SIGINT, .by_terminal = true}}),
              (RunEnd{"completed", "exit 0 after SIGINT (Ctrl-C)"}));
    EXPECT_EQ(describe_end({done, Interruption{.signal = 0, .by_terminal = true}}),
              (RunEnd{"completed", "exit 0 after the terminal closed"}));
    EXPECT_EQ(describe_end({W_EXITCODE(1, 0), Interruption{.signal = SIGTERM}}),
              (RunEnd{"exited", "exit 1 after SIGTERM"}));
}

TEST(DescribeEnd, AnInterruptionLongAgoSaysHowLong) {
    const Interruption early{
        .signal = SIGINT, .by_terminal = true, .before = std::chrono::seconds{75}};
    EXPECT_EQ(describe_end({W_EXITCODE(0, 0), early}),
              (RunEnd{"completed", "exit 0, 75 s after SIGINT (Ctrl-C)"}));
}

TEST(DescribeEnd, TheSignalItDiedOfIsNamedOnce) {
    const Interruption asked{.signal = SIGTERM};
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGTERM), asked}),
              (RunEnd{"signaled", "signal 15 (SIGTERM)"}));
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGKILL), asked}),
              (RunEnd{"signaled", "signal 9 (SIGKILL) after SIGTERM"}));
}

}  // namespace
}  // namespace knell::cli
