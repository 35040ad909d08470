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
using ::testing::Not;
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

TEST_F(WriterTrial, AResetThatAMessageFindsDueIsExplained) {
    Route route;
    route.draft = create("a").draft;
    route.draft.key = "k";
    Suspend suspend{.name = {.session_id = {}, .key = "k"}, .why = "stuck", .said_by = "someone"};
    Reset reset{.name = {.session_id = {}, .key = "k"}, .force = false, .said_by = "someone"};
    ::testing::internal::CaptureStderr();
    recover();
    writer_.start();
    EXPECT_TRUE(ask(Command{route}));
    EXPECT_TRUE(ask(Command{suspend}));
    route.draft.id = SessionId("b");
    EXPECT_TRUE(ask(Command{route}));
    EXPECT_TRUE(ask(Command{reset}));
    const auto log = stop();
    EXPECT_THAT(log, HasSubstr("ended session a generation 1: auto_reset (policy): suspended; "
                               "suspended since "));
    EXPECT_THAT(log, Not(HasSubstr("ended session b"))) << "somebody asked for that";
}

TEST_F(WriterTrial, ADeathThatAMessageFindsIsExplainedAndACloseIsNot) {
    Route route;
    route.draft = create("a", testing::process_owner(7)).draft;
    route.draft.key = "k";
    auto run = create("run", testing::process_owner(8));
    run.draft.leftovers = LeftoversPolicy::report;
    auto over = testing::close("run", 1, Reason::exited);
    over.is_over = over.by_parent = true;
    over.caller = testing::process_owner(9).process;
    ::testing::internal::CaptureStderr();
    recover();
    // All in one group: the message comes before what fell due is decided.
    const auto say = [this](Input input) {
        writer_.submit_direct(std::move(input),
                              [](const Result<Reply>& reply) { EXPECT_TRUE(reply); });
    };
    say(Command{route});
    say(Command{run});
    writer_.observe(testing::gone(7, testing::signaled(9)));
    route.draft.owner = testing::process_owner(10);
    say(Command{route});
    writer_.submit_direct(Command{over}, [](const Result<Reply>& reply) {
        ASSERT_TRUE(reply);
        EXPECT_EQ(std::get<ClosedReply>(*reply).end.proof, Proof::observed);
    });
    writer_.start();
    EXPECT_TRUE(ask(Inspect{SessionId("a")}));
    const auto log = stop();
    EXPECT_THAT(log, HasSubstr("ended session a generation 1: signaled (observed): "));
    EXPECT_THAT(log, Not(HasSubstr("ended session run"))) << "its parent said so";
}

}  // namespace
}  // namespace knell
