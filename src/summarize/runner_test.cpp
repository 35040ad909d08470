#include "summarize/runner.hpp"

#include <array>
#include <cerrno>
#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "testing/fifo.hpp"
#include "testing/refused_calls.hpp"
#include "testing/summary_trial.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using testing::with_refused_calls;
using namespace std::chrono_literals;

class SummaryRunnerTest : public ::testing::Test, public testing::SummaryTrial {
  protected:
    std::future<SummaryOutcome> submit(SummaryJob job) {
        auto told = std::make_shared<std::promise<SummaryOutcome>>();
        auto outcome = told->get_future();
        const auto taken = runner_.submit(std::move(job), [told](SummaryOutcome one) {
            told->set_value(std::move(one));  // throws when it is called twice
        });
        EXPECT_TRUE(taken) << taken.error().message;
        return outcome;
    }
    Provider hangs(std::string_view fifo) const {
        return shell(fmt::format("exec 3>{}; echo up >&3; sleep 1000", path(fifo)));
    }

    SummaryRunner runner_;
};

TEST_F(SummaryRunnerTest, MakesASummaryOnAThreadOfItsOwn) {
    std::promise<std::string> thread;
    auto summary = submit(job({shell("echo made")}));
    EXPECT_EQ(summary.get().summary, "made");
    ASSERT_TRUE(runner_.submit(job({}), [&](const SummaryOutcome&) {
        std::array<char, 16> name{};
        pthread_getname_np(pthread_self(), name.data(), name.size());
        thread.set_value(name.data());
    }));
    EXPECT_EQ(thread.get_future().get(), "knell-summary");
}

TEST_F(SummaryRunnerTest, MakesTenAtOnce) {
    std::vector<std::future<SummaryOutcome>> summaries;
    for (int i = 0; i < 10; ++i) {
        summaries.push_back(submit(
            job({shell("exit 1"), shell(fmt::format("echo {}", i))}, fmt::format("s{}", i))));
    }
    for (int i = 0; i < 10; ++i) {
        const auto outcome = summaries[static_cast<std::size_t>(i)].get();
        EXPECT_EQ(outcome.summary, fmt::format("{}", i));
        EXPECT_THAT(outcome.failures, ElementsAre("trial: exit 1"));
    }
}

TEST_F(SummaryRunnerTest, OneThatHangsIsEndedAndHoldsUpNobody) {
    auto one = shell("sleep 1000");
    one.timeout = 50ms;
    auto overdue = submit(job({one}, "a"));
    EXPECT_EQ(submit(job({shell("echo made")}, "b")).get().summary, "made");
    EXPECT_THAT(overdue.get().failures, ElementsAre("trial: timed out after 50 ms"));
}

TEST_F(SummaryRunnerTest, CancelsWhatWasSubmittedBeforeAndNothingElse) {
    const auto fifo = reader_of_fifo("fifo");
    runner_.cancel(SessionId("a"));
    auto first = submit(job({hangs("fifo")}, "a"));
    EXPECT_EQ(testing::read_line(fifo), "up");
    runner_.cancel(SessionId("b"));
    runner_.cancel(SessionId("a"));
    runner_.cancel(SessionId("a"));
    auto second = submit(job({shell("echo made")}, "a"));
    EXPECT_THAT(first.get().failures, ElementsAre("cancelled"));
    EXPECT_EQ(second.get().summary, "made");
    EXPECT_TRUE(testing::is_let_go(fifo));
}

TEST_F(SummaryRunnerTest, TheNextMayBeSubmittedWhenOneIsTold) {
    std::promise<Result<void>> second;
    auto told = std::make_shared<std::promise<SummaryOutcome>>();
    auto outcome = told->get_future();
    auto next = std::make_shared<SummaryJob>(job({shell("echo second")}));
    ASSERT_TRUE(runner_.submit(job({shell("echo first")}), [&, next](const SummaryOutcome&) {
        second.set_value(runner_.submit(
            std::move(*next), [told](SummaryOutcome one) { told->set_value(std::move(one)); }));
    }));
    EXPECT_TRUE(second.get_future().get());
    EXPECT_EQ(outcome.get().summary, "second");
}

TEST_F(SummaryRunnerTest, TakesOnlySoMany) {
    const auto fifo = reader_of_fifo("fifo");
    const auto original = job({});
    const auto waiting = [&] {
        return SummaryJob{.session_id = SessionId("a"),
                          .providers = {hangs("fifo")},
                          .input = Fd{::dup(original.input.get())},
                          .content_bytes = 1000};
    };
    std::vector<std::future<SummaryOutcome>> taken;
    for (auto left = limits::summary_jobs_max + limits::summary_queue_max; left > 0; --left) {
        taken.push_back(submit(waiting()));
    }
    const auto more = runner_.submit(waiting(), [](const SummaryOutcome&) { FAIL(); });
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::limit);
    EXPECT_EQ(more.error().message,
              "260 summaries are being made or wait to be already; try again later");
    runner_.cancel(SessionId("a"));
    for (auto& one : taken) EXPECT_THAT(one.get().failures, ElementsAre("cancelled"));
    EXPECT_EQ(submit(job({shell("echo made")})).get().summary, "made");
}

TEST_F(SummaryRunnerTest, AStopEndsWhatRunsAndTellsEverybody) {
    const auto fifo = reader_of_fifo("fifo");
    std::vector<std::future<SummaryOutcome>> taken;
    for (std::size_t i = 0; i < limits::summary_jobs_max + 2; ++i) {
        taken.push_back(submit(job({hangs("fifo")})));
    }
    EXPECT_EQ(testing::read_line(fifo), "up");
    runner_.stop();
    for (auto& one : taken) {
        ASSERT_EQ(one.wait_for(0s), std::future_status::ready) << "when stop returns";
        const auto outcome = one.get();
        EXPECT_FALSE(outcome.ok);
        EXPECT_THAT(outcome.failures, ElementsAre("the daemon stops"));
    }
    EXPECT_TRUE(testing::is_let_go(fifo));
    const auto after = runner_.submit(job({}), [](const SummaryOutcome&) { FAIL(); });
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().message, "the daemon stops");
    runner_.stop();
}

TEST_F(SummaryRunnerTest, WithoutAThreadNothingIsTaken) {
    with_refused_calls({SYS_clone3, SYS_clone}, EAGAIN, [&] {
        const auto taken = runner_.submit(job({}), [](const SummaryOutcome&) { FAIL(); });
        ASSERT_FALSE(taken);
        EXPECT_EQ(taken.error().code, ErrorCode::limit);
        EXPECT_EQ(taken.error().message,
                  "cannot start a thread for summaries: Resource temporarily unavailable");
    });
    EXPECT_EQ(submit(job({shell("echo made")})).get().summary, "made");
}

}  // namespace
}  // namespace knell
