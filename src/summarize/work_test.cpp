#include "summarize/work.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "platform/marked_run.hpp"
#include "testing/fifo.hpp"
#include "testing/summary_trial.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr SteadyTime start_time{};

class SummaryWorkTest : public ::testing::Test, public testing::SummaryTrial {
  protected:
    /// Why the one provider failed.
    std::string failure_of(const Provider& provider) {
        const auto outcome = run(provider);
        EXPECT_FALSE(outcome.ok);
        EXPECT_EQ(outcome.provider, "");
        EXPECT_EQ(outcome.summary, "");
        EXPECT_THAT(outcome.failures, SizeIs(1));
        return outcome.failures.empty() ? "" : outcome.failures.front();
    }
    std::string summary_of(const Provider& provider) {
        const auto outcome = run(provider);
        EXPECT_TRUE(outcome.ok) << ::testing::PrintToString(outcome.failures);
        EXPECT_EQ(outcome.provider, provider.name);
        EXPECT_THAT(outcome.failures, IsEmpty());
        return outcome.summary;
    }
    /// One that says on `fifo` that it runs, and holds that open for as long as anything of it
    /// lives.
    Provider says_it_runs(std::string_view fifo, std::string_view then) const {
        return shell(fmt::format("exec 3>{}; {}", path(fifo), then));
    }
};

TEST_F(SummaryWorkTest, AProviderReadsTheMessagesAndPrintsASummary) {
    auto read = std::string(two_messages);
    read.pop_back();
    EXPECT_EQ(summary_of(provider({"/bin/cat"})), read);
    EXPECT_EQ(summary_of(shell("wc -l")), "2");
}

TEST_F(SummaryWorkTest, OneThatIsNamedIsLookedForInThePath) {
    EXPECT_EQ(summary_of(provider({"echo", "asked why", "$HOME"})), "asked why $HOME")
        << "and no shell has a look at it";
}

TEST_F(SummaryWorkTest, OneMayReadNothing) {
    EXPECT_EQ(summary_of(shell("exec 0<&-; echo all of it")), "all of it");
}

TEST_F(SummaryWorkTest, AllThatFailsAProvider) {
    const auto script = write("script", "#!/not/there\n");
    const auto text = write("text", "no program\n");
    const auto open_to_all = write("open", "#!/bin/sh\n");
    std::filesystem::permissions(open_to_all, std::filesystem::perms::all);
    const struct {
        Provider provider;
        std::string why;
    } table[] = {
        {provider({}), "has no command"},
        {provider({"/not/there"}), "cannot run /not/there: it is not there"},
        {provider({"./here"}), "cannot run ./here: give its whole path, or a name in the PATH"},
        {provider({"knell-no-such"}),
         "cannot run knell-no-such: it is not in the PATH of the daemon"},
        {provider({""}), "has no command"},
        {provider({script}),
         fmt::format("cannot run {}: the interpreter that its #! line names is not there", script)},
        {provider({text}), fmt::format("cannot run {}: not a program: no #! line", text)},
        {provider({open_to_all}), fmt::format("cannot run {0}: anybody could change it: chmod o-w "
                                              "{0}",
                                              open_to_all)},
        {provider({"/etc/passwd"}), "cannot run /etc/passwd: Permission denied"},
        {shell("echo no; exit 3"), "exit 3"},
        {shell("echo no; echo 'no key' >&2; echo 'log in first' >&2; exit 1"),
         "exit 1: no key; log in first"},
        {shell("echo bye >&2; kill -KILL $$"), "killed by SIGKILL: bye"},
        {shell("kill -TERM $$"), "killed by SIGTERM"},
        {shell("true"), "printed nothing"},
        {shell("echo; echo ' '"), "printed nothing"},
        {shell("printf '\\377'"), "printed something that is not UTF-8"},
        {shell("head -c 1000 /dev/zero | tr '\\0' x"),
         "its summary of 1000 bytes is not shorter than the 1000 bytes that it would replace"},
        {shell("head -c 1048577 /dev/zero; exit 0"), "printed more than 1024 KiB"},
        {shell("exec cat /dev/zero"), "printed more than 1024 KiB"},
    };
    for (const auto& [provider, why] : table) EXPECT_EQ(failure_of(provider), "trial: " + why);
}

TEST_F(SummaryWorkTest, ANoisyStandardErrorFailsNobody) {
    EXPECT_EQ(summary_of(shell("head -c 3000000 /dev/zero >&2; echo fine")), "fine");
}

TEST_F(SummaryWorkTest, WhenOneFailsTheNextReadsFromTheBeginning) {
    const auto outcome =
        run({shell("head -c 5; exit 1", "first"), provider({"/not/there"}, "second"),
             provider({"/bin/cat"}, "third"), shell("echo never", "fourth")});
    EXPECT_TRUE(outcome.ok);
    EXPECT_EQ(outcome.summary + '\n', two_messages);
    EXPECT_EQ(outcome.provider, "third");
    EXPECT_THAT(outcome.failures,
                ElementsAre("first: exit 1", "second: cannot run /not/there: it is not there"));
}

TEST_F(SummaryWorkTest, WhenAllFailEachSaysWhy) {
    const auto outcome = run({shell("exit 1", "first"), shell("true", "second")});
    EXPECT_FALSE(outcome.ok);
    EXPECT_THAT(outcome.failures, ElementsAre("first: exit 1", "second: printed nothing"));
}

TEST_F(SummaryWorkTest, WithoutProvidersThereIsNoSummary) {
    EXPECT_THAT(run(std::vector<Provider>{}).failures, ElementsAre("there is no provider to ask"));
}

TEST_F(SummaryWorkTest, AProviderFindsAHooksEnvironmentAndTheSession) {
    ::setenv("KNELL_TRIAL_SECRET", "x", 1);
    const auto found = summary_of(shell(
        "pwd; env | grep KNELL_ | grep -v -e KNELL_HOME -e KNELL_SUMMARY_RUN; ls /proc/self/fd"));
    ::unsetenv("KNELL_TRIAL_SECRET");
    EXPECT_EQ(found, "/\nKNELL_SESSION_ID=s1\n0\n1\n2\n3");
}

TEST_F(SummaryWorkTest, AProviderIsMarkedForTheNextDaemon) {
    auto marked = job({shell("exit 1", "near"), shell("echo $KNELL_SUMMARY_RUN", "far")});
    marked.node = "5d1e";
    start(std::move(marked));
    finish();
    ASSERT_THAT(outcomes(), SizeIs(1));
    auto run = parse_marked_run(outcomes()[0].summary);
    ASSERT_TRUE(run) << outcomes()[0].summary;
    EXPECT_GT(std::exchange(run->group, 0), 1);
    EXPECT_EQ(*run, run_of_ours("5d1e", "far"));
}

TEST_F(SummaryWorkTest, WithoutAPathProgramsAreLookedForInTheUsualPlaces) {
    const std::string path = ::getenv("PATH");
    ::unsetenv("PATH");
    EXPECT_EQ(summary_of(provider({"echo", "found"})), "found");
    ::setenv("PATH", path.c_str(), 1);
}

TEST_F(SummaryWorkTest, OneThatHangsIsAskedToEndAndTheNextIsTried) {
    const auto fifo = reader_of_fifo("fifo");
    start(job(
        {says_it_runs("fifo", "echo half; echo up >&3; sleep 1000"), shell("echo made", "next")}));
    EXPECT_EQ(testing::read_line(fifo), "up");
    EXPECT_EQ(work().next_deadline(), start_time + timeout);
    work().step(start_time + timeout - 1ns);
    EXPECT_EQ(work().next_deadline(), start_time + timeout) << "not before its time";
    work().step(start_time + timeout);
    finish(start_time + timeout);
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_EQ(outcomes()[0].summary, "made");
    EXPECT_THAT(outcomes()[0].failures, ElementsAre("trial: timed out after 60 s"));
    EXPECT_TRUE(testing::is_let_go(fifo));
}

TEST_F(SummaryWorkTest, OneThatIsAskedToEndHasFailedWhateverItSays) {
    const auto fifo = reader_of_fifo("fifo");
    auto one =
        says_it_runs("fifo", "trap 'echo late; exit 0' TERM; echo up >&3; sleep 1000 & wait");
    one.timeout = 1500ms;
    start(job({one}));
    EXPECT_EQ(testing::read_line(fifo), "up");
    work().step(start_time + 1500ms);
    finish(start_time + 1500ms);
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_THAT(outcomes()[0].failures, ElementsAre("trial: timed out after 1500 ms"));
}

TEST_F(SummaryWorkTest, OneThatIgnoresThatIsKilledTwoSecondsLater) {
    const auto fifo = reader_of_fifo("fifo");
    start(job({says_it_runs("fifo", "trap '' TERM; sleep 1000 & echo up >&3; sleep 1000")}));
    EXPECT_EQ(testing::read_line(fifo), "up");
    work().step(start_time + timeout);
    EXPECT_EQ(work().next_deadline(), start_time + timeout + 2s);
    work().step(start_time + timeout + 2s - 1ns);
    EXPECT_EQ(work().running(), 1U);
    work().step(start_time + timeout + 2s);
    EXPECT_EQ(work().running(), 0U);
    finish();
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_THAT(outcomes()[0].failures, ElementsAre("trial: timed out after 60 s"));
    EXPECT_TRUE(testing::is_let_go(fifo)) << "all of its group is gone";
    EXPECT_EQ(work().dying(), 0U);
}

TEST_F(SummaryWorkTest, AChildThatHoldsTheOutputOpenHoldsUpNobody) {
    const auto fifo = reader_of_fifo("fifo");
    EXPECT_EQ(summary_of(says_it_runs("fifo", "sleep 1000 & echo done")), "done");
    EXPECT_TRUE(testing::is_let_go(fifo)) << "and is killed";
}

TEST_F(SummaryWorkTest, OneThatMadeItIsNotOverdueHoweverLateWeLook) {
    const auto fifo = reader_of_fifo("fifo");
    start(job({says_it_runs("fifo", "echo made; echo $$ >&3")}));
    const auto pid = static_cast<id_t>(std::stoi(testing::read_line(fifo)));
    EXPECT_EQ(::waitid(P_PID, pid, nullptr, WEXITED | WNOWAIT), 0);
    finish(start_time + 24h);
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_EQ(outcomes()[0].summary, "made");
}

TEST_F(SummaryWorkTest, OnlySoManyRunAtOnce) {
    const auto fifo = reader_of_fifo("fifo");
    for (std::size_t i = 0; i < limits::summary_jobs_max; ++i) {
        start(job({says_it_runs("fifo", "echo up >&3; sleep 1000")}, "hangs"));
    }
    EXPECT_EQ(testing::read_line(fifo), "up");
    start(job({shell("echo second")}, "waits"));
    EXPECT_EQ(work().running(), limits::summary_jobs_max);
    EXPECT_EQ(work().waiting(), 1U);
    work().cancel(SessionId("hangs"), "cancelled");
    EXPECT_EQ(work().running(), 0U);
    work().step(start_time);
    finish();
    ASSERT_THAT(outcomes(), SizeIs(limits::summary_jobs_max + 1));
    EXPECT_TRUE(std::ranges::all_of(
        outcomes() | std::views::take(limits::summary_jobs_max), [](const auto& one) {
            return !one.ok && one.failures == std::vector<std::string>{"cancelled"};
        }));
    EXPECT_EQ(outcomes().back().summary, "second");
    EXPECT_TRUE(testing::is_let_go(fifo));
}

TEST_F(SummaryWorkTest, OneThatWaitsIsCancelledLikeOneThatRuns) {
    work().add(job({shell("echo never")}, "a"), [](const auto& outcome) {
        EXPECT_THAT(outcome.failures, ElementsAre("cancelled"));
    });
    work().cancel(SessionId("b"), "cancelled");
    EXPECT_EQ(work().waiting(), 1U);
    work().cancel(SessionId("a"), "cancelled");
    EXPECT_EQ(work().waiting(), 0U);
    auto finished = work().take_finished();
    ASSERT_THAT(finished, SizeIs(1));
    finished[0].done(std::move(finished[0].outcome));
}

TEST_F(SummaryWorkTest, AFailureBeforeItWasCancelledIsToldToo) {
    const auto fifo = reader_of_fifo("fifo");
    start(job({provider({"/not/there"}, "first"), says_it_runs("fifo", "sleep 1000")}));
    work().cancel_all("the daemon stops");
    finish();
    ASSERT_THAT(outcomes(), SizeIs(1));
    EXPECT_THAT(outcomes()[0].failures,
                ElementsAre("first: cannot run /not/there: it is not there", "the daemon stops"));
    EXPECT_EQ(work().dying(), 0U);
}

}  // namespace
}  // namespace knell
