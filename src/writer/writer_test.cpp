// The writer's thread on a store that fails: what is answered and what is said in the log.

#include "writer/writer.hpp"

#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "testing/commands.hpp"
#include "testing/failing_store.hpp"
#include "testing/fake_processes.hpp"
#include "testing/no_leftovers.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::create;
using ::testing::HasSubstr;
using testing::lease_owner;
using Call = testing::FailingStore::Call;

class WriterTrial : public ::testing::Test {
  protected:
    void recover() {
        const auto recovered = writer_.recover(processes_, leftovers_, spool_);
        ASSERT_TRUE(recovered) << recovered.error().message;
    }
    Result<Reply> ask(Input input) {
        std::promise<Result<Reply>> answer;
        writer_.submit_direct(std::move(input),
                              [&](Result<Reply> reply) { answer.set_value(std::move(reply)); });
        return answer.get_future().get();
    }
    /// On the writer's thread, which alone uses the store: in the answer to a call.
    void set_refused(std::set<Call> calls) {
        std::promise<void> done;
        writer_.submit_direct(Inspect{SessionId("nobody")}, [&](const Result<Reply>&) {
            store_.refused = std::move(calls);
            done.set_value();
        });
        done.get_future().wait();
    }
    /// All that is logged until the writer has stopped.
    std::string stop() {
        writer_.stop();
        return ::testing::internal::GetCapturedStderr();
    }

    testing::FailingStore store_;
    testing::FakeProcesses processes_;
    testing::NoLeftovers leftovers_;
    testing::NoSpool spool_;
    const ConfigHolder config_{"/nowhere/config.yaml"};
    Writer writer_{store_, config_,
                   [](std::vector<Writer::Answer> answers, const std::vector<Event>&) {
                       for (auto& [done, reply] : answers) done(std::move(reply));
                   },
                   [](Effect&&) {}, [] { return SteadyTime{}; }};
};

TEST_F(WriterTrial, ARecoveryThatTheStoreRefusesIsNone) {
    store_.refused = {Call::heads};
    EXPECT_FALSE(writer_.recover(processes_, leftovers_, spool_));
}

TEST_F(WriterTrial, AFullQueueRefusesAndLeavesTheAnswerToItsCaller) {
    // Nobody takes anything out.
    const Input input = Inspect{SessionId("s")};
    std::size_t taken = 0;
    for (;; ++taken) {
        ASSERT_LE(taken, limits::queue_commands_max);
        Writer::Done done = [](const Result<Reply>&) {};
        if (writer_.submit(Input{input}, std::move(done))) continue;
        EXPECT_TRUE(done) << "whoever asked could not be told";
        break;
    }
    EXPECT_EQ(taken, writer_.queued());
    EXPECT_TRUE(writer_.submit(testing::beat("s"), {})) << "a sign of life has room of its own";
}

TEST_F(WriterTrial, AStoreThatFailsIsToldOnceAndSoIsThatItWorksAgain) {
    ::testing::internal::CaptureStderr();
    recover();
    writer_.start();
    set_refused({Call::commit});
    EXPECT_FALSE(ask(create("a")));
    EXPECT_FALSE(ask(create("a")));
    EXPECT_EQ(writer_.why_failing(), "the disk failed");
    set_refused({});
    EXPECT_TRUE(ask(create("a")));
    EXPECT_EQ(writer_.why_failing(), "");
    const auto log = stop();
    EXPECT_EQ(log.find("commit failed"), log.rfind("commit failed"));
    EXPECT_THAT(log, HasSubstr("callers got \"storage\": the disk failed"));
    EXPECT_THAT(log, HasSubstr("the store takes writes again"));
}

TEST_F(WriterTrial, ChoresThatFailAreTriedAgainAndTold) {
    ::testing::internal::CaptureStderr();
    recover();
    writer_.start();
    set_refused({Call::maintain});
    // Maintained after the answer, before the next one is taken.
    EXPECT_TRUE(ask(create("a", lease_owner())));
    EXPECT_TRUE(ask(create("b", lease_owner())));
    EXPECT_THAT(stop(), HasSubstr("store maintenance failed, will try again: the disk failed"));
}

TEST_F(WriterTrial, OldEventsThatCannotBeLetGoOfAreTold) {
    store_.refused = {Call::log_age};
    ::testing::internal::CaptureStderr();
    recover();
    writer_.start();
    EXPECT_TRUE(ask(create("a", lease_owner())));
    EXPECT_THAT(stop(), HasSubstr("cannot delete old events, will try again"));
}

TEST_F(WriterTrial, AGoodbyeThatTheStoreRefusesIsSaidInTheLog) {
    ::testing::internal::CaptureStderr();
    recover();
    writer_.start();
    EXPECT_TRUE(ask(create("a", lease_owner())));
    set_refused({Call::commit});
    writer_.announce_shutdown({}, "on request");
    const auto log = stop();
    EXPECT_THAT(log, HasSubstr("gateway:shutdown was not recorded: the disk failed"));
    EXPECT_THAT(log, HasSubstr("the last signs of life were not saved: the disk failed"));
}

TEST_F(WriterTrial, ACrowdOfEndsIsSummedUp) {
    {
        State state;
        Journal before(state, store_);
        ASSERT_TRUE(before.recover(testing::at(0), "boot-1"));
        std::vector<Input> inputs;
        for (int i = 0; i < 150; ++i) {
            inputs.emplace_back(create(fmt::format("s{}", i), testing::process_owner(1000 + i)));
        }
        ASSERT_FALSE(before.commit(std::move(inputs), testing::at(0)).failed);
    }
    ::testing::internal::CaptureStderr();
    recover();
    const auto log = stop();
    EXPECT_THAT(log, HasSubstr("ended session s0 generation 1: owner_lost"));
    EXPECT_THAT(log, HasSubstr("and 50 more in the same step"));
    EXPECT_EQ(writer_.figures().open, 0U);
}

}  // namespace
}  // namespace knell
