// What the kernel refuses while a hook is started, watched or stopped: the attempt fails, and
// nothing is left running or open.

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "deliver/hook/run.hpp"
#include "testing/hook_trial.hpp"
#include "testing/marked_process.hpp"
#include "testing/refused_calls.hpp"

namespace knell {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::with_refused_calls;
using Kind = Outcome::Kind;

class HookFailures : public ::testing::Test, public testing::HookTrial {
  protected:
    /// Runs it on a thread that is refused these calls.  To its end there: a hook dies with the
    /// thread that started it.
    Outcome run_refused(const std::vector<long>& calls, int error, const HookSpec& hook) {
        Outcome outcome;
        with_refused_calls(calls, error, [&] { outcome = run(hook); });
        return outcome;
    }
    /// Of this test: others that run in the same process may have left some.
    std::vector<pid_t> children() const {
        auto all = children_of_process();
        std::erase_if(all,
                      [&](pid_t pid) { return std::ranges::find(others_, pid) != others_.end(); });
        return all;
    }

  private:
    static std::vector<pid_t> children_of_process() {
        std::vector<pid_t> all;
        // The thread that started one may be gone: then another of the process has it.
        for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
            std::ifstream listed(thread.path() / "children");
            for (pid_t pid = 0; listed >> pid;) all.push_back(pid);
        }
        return all;
    }

    const std::vector<pid_t> others_ = children_of_process();
};

TEST_F(HookFailures, WhatIsRefusedBeforeItRunsIsNamed) {
    struct Refused {
        long call;
        int error;
        const char* what;
    };
    for (const auto& [call, error, what] : {
             Refused{SYS_memfd_create, EMFILE, "cannot hold the event for its input: Too many"},
             Refused{SYS_write, ENOMEM, "cannot hold the event for its input: Cannot allocate"},
             Refused{SYS_fcntl, EPERM, "cannot hold the event for its input: Operation not"},
             Refused{SYS_lseek, ESPIPE, "cannot hold the event for its input: Illegal seek"},
             Refused{SYS_pipe2, EMFILE, "cannot open a pipe for its output: Too many open files"},
             Refused{SYS_vfork, EAGAIN, "cannot run /bin/sh: Resource temporarily unavailable"},
             Refused{SYS_setsid, EPERM, "cannot run /bin/sh: Operation not permitted"},
         }) {
        const auto outcome = run_refused({call}, error, shell("touch ran"));
        EXPECT_EQ(outcome.kind, Kind::failed) << what;
        EXPECT_THAT(outcome.what, HasSubstr(what));
        EXPECT_THAT(children(), IsEmpty()) << what;
    }
    EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(HookFailures, OneThatCannotBeWatchedIsKilledAndReaped) {
    const auto outcome = run_refused({SYS_pidfd_open}, EMFILE, shell("sleep 1000"));
    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "cannot watch it: Too many open files");
    EXPECT_THAT(children(), IsEmpty());
}

TEST_F(HookFailures, OneThatSomebodyElseHasReapedIsNotSignalled) {
    const auto lives = fifo("lives");
    std::string said;
    with_refused_calls({SYS_pidfd_open, SYS_waitid}, ECHILD, [&] {
        start(shell("echo it lives > lives; exec sleep 1000"));
        said = testing::read_line(lives);
    });
    EXPECT_EQ(said, "it lives") << "its number may be another's by then";
    const auto finished = finish();
    ASSERT_THAT(finished, SizeIs(1));
    EXPECT_THAT(finished[0].outcome.what, HasSubstr("cannot watch it"));
    const auto left = children();
    ASSERT_THAT(left, SizeIs(1));
    int status = 0;
    EXPECT_EQ(::waitpid(left.front(), &status, 0), left.front());
    EXPECT_EQ(status, SIGKILL) << "it went with the thread that started it";
}

TEST_F(HookFailures, WithoutCloseRangeItInheritsNoDescriptorEither) {
    const Fd ours{::open("/dev/null", O_RDONLY)};  // NOLINT: to be inherited if anything is
    const auto outcome = run_refused({SYS_close_range}, ENOSYS, spec({"/bin/ls", "/proc/self/fd"}));
    EXPECT_EQ(outcome.output, "0\n1\n2\n3\n");
}

#ifndef KNELL_NEEDS_DESCRIPTORS
TEST_F(HookFailures, WhereverTheDescriptorsEndItFailsAndSaysSo) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const Fd lowest{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    Outcome outcome;
    for (rlim_t more = 1; outcome.kind != Kind::delivered; ++more) {
        ASSERT_LT(more, 64U) << outcome.what;
        const rlimit few{.rlim_cur = static_cast<rlim_t>(lowest.get()) + more,
                         .rlim_max = before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        outcome = run(shell("true"));
        setrlimit(RLIMIT_NOFILE, &before);
        if (outcome.kind == Kind::delivered) continue;
        EXPECT_THAT(outcome.what, ::testing::HasSubstr("oo many open files"));
        EXPECT_THAT(children(), IsEmpty());
    }
}
#endif

TEST_F(HookFailures, WhatAnEarlierDaemonLeftAndCannotBeKilledIsNotRunBeside) {
    // A node of this test alone: others run hooks at the same time.
    const auto node = fmt::format("node-{}", ::getpid());
    HookRunner runner(node);
    const auto outcome_of_another = [&] {
        runner.start(1, shell("true"), rendered(), SteadyTime{});
        auto finished = runner.take_finished();
        for (; finished.empty(); finished = runner.take_finished()) runner.step(SteadyTime{});
        return finished.front().outcome.what;
    };
    // A run of a daemon whose number was given to us since.
    auto run = run_of_ours(node, "trial");
    run.daemon_start_ticks += 1;
    testing::MarkedProcess orphan(run);

    with_refused_calls({SYS_pidfd_send_signal}, EPERM,
                       [&] { EXPECT_THAT(runner.stop_orphans().stopped, SizeIs(1)); });
    EXPECT_EQ(outcome_of_another(),
              fmt::format("its run under an earlier daemon (process {}) was killed and is not gone "
                          "yet",
                          orphan.pid()));

    EXPECT_THAT(runner.stop_orphans().stopped, SizeIs(1));
    orphan.wait();
    EXPECT_EQ(outcome_of_another(), "exit 0");
}

TEST_F(HookFailures, APollThatIsRefusedMeansThatAllAreLookedAt) {
    start(shell("exit 3"));
    wait();
    // The pidfd is readable by now; the runner cannot ask.
    std::vector<Finished> finished;
    with_refused_calls({SYS_poll}, ENOMEM, [&] {
        while (finished.empty()) {
            runner().step(SteadyTime{});
            finished = runner().take_finished();
        }
    });
    ASSERT_THAT(finished, SizeIs(1));
    EXPECT_THAT(finished[0].outcome.what, HasSubstr("exit 3"));
}

TEST_F(HookFailures, AWaitThatIsRefusedIsMadeAgain) {
    start(shell("exit 3"));
    wait();
    with_refused_calls({SYS_waitid}, EINVAL, [&] { runner().step(SteadyTime{}); });
    EXPECT_THAT(runner().take_finished(), IsEmpty());
    const auto finished = finish();
    ASSERT_THAT(finished, SizeIs(1));
    EXPECT_THAT(finished[0].outcome.what, HasSubstr("exit 3"));
}

}  // namespace
}  // namespace knell
