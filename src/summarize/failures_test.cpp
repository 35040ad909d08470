// What the kernel refuses while a provider is started, watched or stopped: it fails with the
// reason, the next is tried unless the system is short of something, and nothing is left running or
// open.

#include <cerrno>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "testing/fifo.hpp"
#include "testing/refused_calls.hpp"
#include "testing/summary_trial.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using testing::with_refused_calls;

class SummaryFailures : public ::testing::Test, public testing::SummaryTrial {};

TEST_F(SummaryFailures, WhatIsRefusedBeforeItRunsIsNamed) {
    // ThreadSanitizer makes a fork of a vfork.
    const std::vector<long> vforks{SYS_vfork, SYS_clone};
    const struct {
        std::vector<long> calls;
        int error;
        const char* why;
        bool is_shortage = false;
    } table[] = {
#ifndef KNELL_NEEDS_DESCRIPTORS
        {{SYS_pipe2}, EMFILE, "cannot open a pipe for its output: Too many open files", true},
#endif
        {{SYS_fcntl}, EPERM, "cannot read its output: Operation not permitted"},
        {{SYS_openat}, EMFILE, "cannot open its input: Too many open files", true},
        {{SYS_openat}, ENOENT, "cannot open its input: No such file or directory"},
        {vforks, EAGAIN, "cannot run /bin/sh: Resource temporarily unavailable", true},
        {vforks, ENOMEM, "cannot run /bin/sh: Cannot allocate memory", true},
        {{SYS_setsid}, EPERM, "cannot run /bin/sh: Operation not permitted"},
        {{SYS_chdir}, EACCES, "cannot run /bin/sh: Permission denied"},
        {{SYS_dup2}, EBUSY, "cannot run /bin/sh: Device or resource busy"},
        {{SYS_pidfd_open},
         EPERM,
         "cannot run /bin/sh: it cannot be watched: Operation not permitted"},
    };
    for (const auto& [calls, error, why, is_shortage] : table) {
        auto wanted = job({shell("echo never", "a"), shell("echo never", "b")});
        with_refused_calls(calls, error, [&] { start(std::move(wanted)); });
        EXPECT_EQ(work().running() + work().dying(), 0U) << why;
        ASSERT_THAT(outcomes(), SizeIs(1)) << why;
        std::vector<std::string> told{std::string("a: ") + why};
        // No provider can be started then: the next is not tried as if this one had failed.
        if (!is_shortage) told.push_back(std::string("b: ") + why);
        EXPECT_EQ(outcomes()[0].failures, told);
        EXPECT_EQ(outcomes()[0].is_shortage, is_shortage) << why;
        outcomes().clear();
    }
}

#ifndef KNELL_NEEDS_DESCRIPTORS
TEST_F(SummaryFailures, WhereverTheDescriptorsEndItFailsAndThenRunsAsEver) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    bool ok = false;
    for (rlim_t more = 1; !ok; ++more) {
        ASSERT_LT(more, 64U);
        auto wanted = job({shell("echo made")});
        const Fd lowest{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        const rlimit few{.rlim_cur = static_cast<rlim_t>(lowest.get()) + more,
                         .rlim_max = before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        start(std::move(wanted));
        setrlimit(RLIMIT_NOFILE, &before);
        finish();
        ASSERT_THAT(outcomes(), SizeIs(1));
        ok = outcomes()[0].ok;
        if (!ok) {
            ASSERT_THAT(outcomes()[0].failures, SizeIs(1));
            EXPECT_TRUE(outcomes()[0].is_shortage);
            EXPECT_TRUE(outcomes()[0].failures[0].ends_with("Too many open files"))
                << outcomes()[0].failures[0];
        }
        outcomes().clear();
    }
}
#endif

TEST_F(SummaryFailures, OneThatSomebodyElseHasReapedIsNotSignalled) {
    const auto fifo = reader_of_fifo("fifo");
    // Its main process ends and is reaped; a child of it lives, in a group whose number may be
    // another's by now.
    start(job({shell("exec 3>" + path("fifo") + "; echo up >&3; sleep 1000 & echo $$ >&3")}));
    EXPECT_EQ(testing::read_line(fifo), "up");
    const auto pid = static_cast<pid_t>(std::stoi(testing::read_line(fifo)));
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    finish();
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_THAT(outcomes()[0].failures, ElementsAre("trial: ended, and its exit status was lost"));
    pollfd held{.fd = fifo.get(), .events = 0, .revents = 0};
    EXPECT_EQ(::poll(&held, 1, 0), 0) << "it lives";
    EXPECT_EQ(::kill(-pid, SIGKILL), 0);
    EXPECT_TRUE(testing::is_let_go(fifo));
}

TEST_F(SummaryFailures, AWaitThatIsRefusedIsMadeAgain) {
    const auto fifo = reader_of_fifo("fifo");
    start(job({shell("exec 3>" + path("fifo") + "; echo made")}));
    EXPECT_TRUE(testing::is_let_go(fifo)) << "it has ended";
    with_refused_calls({SYS_waitid}, EINVAL, [&] { work().step(SteadyTime{}); });
    EXPECT_EQ(work().running(), 1U);
    finish();
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_EQ(outcomes()[0].summary, "made");
}

}  // namespace
}  // namespace knell
