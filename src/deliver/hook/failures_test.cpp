// What the kernel refuses while a hook is started, watched or stopped: the attempt fails, or waits
// where the system is only short of something, and nothing is left running or open.

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

#include "platform/marked_run.hpp"
#include "testing/hook_trial.hpp"
#include "testing/marked_process.hpp"
#include "testing/refused_calls.hpp"

namespace knell {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::with_refused_calls;
using namespace std::chrono_literals;
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

struct Refused {
    long call;
    int error;
    const char* what;
};

TEST_F(HookFailures, WhatIsRefusedBeforeItRunsIsNamed) {
    for (const auto& [call, error, what] : {
             Refused{SYS_fcntl, EPERM, "cannot hold the event for its input: Operation not"},
             Refused{SYS_lseek, ESPIPE, "cannot hold the event for its input: Illegal seek"},
             Refused{SYS_setsid, EPERM, "cannot run /bin/sh: Operation not permitted"},
             Refused{SYS_pidfd_open, EPERM, "cannot watch it: Operation not permitted"},
         }) {
        const auto outcome = run_refused({call}, error, shell("read x; touch ran"));
        EXPECT_EQ(outcome.kind, Kind::failed) << what;
        EXPECT_THAT(outcome.what, HasSubstr(what));
        EXPECT_THAT(children(), IsEmpty()) << what;
    }
}

TEST_F(HookFailures, WhatTheSystemIsShortOfPutsItOffAndCountsAsNoAttempt) {
    SteadyTime now;
    for (const auto& [call, error, what] : {
             Refused{SYS_memfd_create, EMFILE, "cannot hold the event for its input: Too many"},
             Refused{SYS_memfd_create, ENFILE, "cannot hold the event for its input: Too many"},
             Refused{SYS_write, ENOMEM, "cannot hold the event for its input: Cannot allocate"},
             Refused{SYS_pipe2, EMFILE, "cannot open a pipe for its output: Too many open files"},
             Refused{SYS_openat, EMFILE, "cannot be looked at (in /): Too many open files"},
             Refused{SYS_vfork, EAGAIN, "cannot run /bin/sh: Resource temporarily unavailable"},
             Refused{SYS_vfork, ENOMEM, "cannot run /bin/sh: Cannot allocate memory"},
             Refused{SYS_pidfd_open, EMFILE, "cannot watch it: Too many open files"},
         }) {
        with_refused_calls({call}, error, [&] { start(shell("true"), rendered(), now); });
        EXPECT_EQ(runner().waiting(), 1U) << what;
        EXPECT_THAT(runner().shortage(), HasSubstr(what));
        EXPECT_THAT(children(), IsEmpty()) << what;
        EXPECT_EQ(runner().next_deadline(), now + 1s) << what;

        runner().step(now + 999ms);
        EXPECT_EQ(runner().waiting(), 1U) << what;
        now += 1s;
        runner().step(now);
        EXPECT_EQ(runner().waiting(), 0U) << what;
        EXPECT_EQ(runner().shortage(), "") << what;
        const auto finished = finish(now);
        ASSERT_THAT(finished, SizeIs(1)) << what;
        EXPECT_EQ(finished[0].outcome.kind, Kind::delivered) << finished[0].outcome.what;
    }
}

TEST_F(HookFailures, WhoWaitsForTheAnswerIsToldOfAShortageAtOnce) {
    with_refused_calls({SYS_vfork}, EAGAIN, [&] {
        runner().start(1, shell("true"), std::make_shared<const RenderedEvent>(rendered()),
                       SteadyTime{}, HookRunner::IfShort::fail);
    });
    const auto finished = runner().take_finished();
    ASSERT_THAT(finished, SizeIs(1));
    EXPECT_EQ(finished[0].outcome.kind, Kind::failed);
    EXPECT_THAT(finished[0].outcome.what, HasSubstr("Resource temporarily unavailable"));
    EXPECT_EQ(runner().waiting(), 0U);
    EXPECT_EQ(runner().shortage(), "");
}

TEST_F(HookFailures, OneThatWaitsIsCancelledLikeOneThatRuns) {
    AttemptId attempt = 0;
    with_refused_calls({SYS_vfork}, EAGAIN, [&] { attempt = start(shell("true")); });
    runner().cancel(attempt);
    runner().step(SteadyTime{} + 1s);
    EXPECT_EQ(runner().running(), 0U);
    EXPECT_EQ(runner().shortage(), "");
    EXPECT_THAT(finish(), IsEmpty());
}

TEST_F(HookFailures, AShortageIsOverAtTheLatestWhenOneOfOurOwnEnds) {
    const auto gate = fifo("gate");
    start(shell("read x < gate"));
    with_refused_calls({SYS_vfork}, EAGAIN, [&] { start(shell("true")); });
    EXPECT_EQ(runner().waiting(), 1U);
    testing::write_line(gate);
    EXPECT_THAT(finish(), SizeIs(2)) << "though no time passes";
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
TEST_F(HookFailures, WhereverTheDescriptorsEndItIsPutOffAndThenRunsAsEver) {
    const auto script = spec({write("run", "#!/usr/bin/env sh\necho \"$PATH\"\n")});
    const auto as_ever = run(script).output;
    ASSERT_NE(as_ever, "");
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const Fd lowest{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    SteadyTime now;
    bool was_put_off = true;
    for (rlim_t more = 1; was_put_off; ++more) {
        ASSERT_LT(more, 64U) << runner().shortage();
        const rlimit few{.rlim_cur = static_cast<rlim_t>(lowest.get()) + more,
                         .rlim_max = before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        start(script, rendered(), now);
        setrlimit(RLIMIT_NOFILE, &before);
        was_put_off = runner().waiting() > 0;
        if (was_put_off) {
            EXPECT_THAT(children(), IsEmpty());
            now += 1s;
            runner().step(now);
        }
        const auto finished = finish(now);
        ASSERT_THAT(finished, SizeIs(1)) << more;
        EXPECT_EQ(finished[0].outcome.kind, Kind::delivered) << finished[0].outcome.what;
        EXPECT_EQ(finished[0].outcome.output, as_ever) << more;
    }
}
#endif

TEST_F(HookFailures, WhatAnEarlierDaemonLeftAndCannotBeKilledIsNotRunBeside) {
    // A node of this test alone: others run hooks at the same time.
    const auto node = fmt::format("node-{}", ::getpid());
    HookRunner runner(node);
    const auto outcome_of_another = [&] {
        runner.start(1, shell("true"), std::make_shared<const RenderedEvent>(rendered()),
                     SteadyTime{});
        auto finished = runner.take_finished();
        for (; finished.empty(); finished = runner.take_finished()) runner.step(SteadyTime{});
        return finished.front().outcome.what;
    };
    // A run of a daemon whose number was given to us since.
    auto run = run_of_ours(node, "trial");
    run.daemon_start_ticks += 1;
    testing::MarkedProcess orphan(hook_run_variable, run);

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
