// The writer's steps on a store that fails.  What they decide is in tests/conformance and
// tests/sim.

#include "writer/write_step.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/commands.hpp"
#include "testing/failing_store.hpp"
#include "testing/fake_processes.hpp"
#include "testing/no_leftovers.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::create;
using testing::lease_owner;
using Call = testing::FailingStore::Call;

class WriteStepTrial : public ::testing::Test {
  protected:
    Result<WriteStep::Recovered> recover() {
        return write_step_.recover(processes_, leftovers_, spool_, "started");
    }
    Journal::Step say(Input input, bool observed = false) {
        std::vector<WriteStep::Submission> words;
        words.push_back({std::move(input), observed, clocks_});
        write_step_.take(std::move(words), clocks_);
        return write_step_.step();
    }
    void pass(std::chrono::milliseconds time) {
        clocks_.wall += time;
        clocks_.awake += time;
        clocks_.boot += time;
    }

    testing::FailingStore store_;
    testing::FakeProcesses processes_;
    testing::NoLeftovers leftovers_;
    testing::NoSpool spool_;
    AwakeClock::Readings clocks_{testing::at(0).wall, testing::at(0).steady, testing::at(0).boot};
    WriteStep write_step_{store_, [this] { return clocks_; }};
};

TEST_F(WriteStepTrial, ARecoveryThatTheStoreRefusesIsNone) {
    for (const auto call : {Call::heads, Call::open, Call::unsettled, Call::commit}) {
        store_.refused = {call};
        const auto recovered = recover();
        ASSERT_FALSE(recovered) << static_cast<int>(call);
        EXPECT_EQ(recovered.error().code, ErrorCode::storage);
    }
    store_.refused = {};
    EXPECT_TRUE(recover());
}

TEST_F(WriteStepTrial, ASpooledEndThatTheStoreRefusesIsNotTakenForALoss) {
    struct OneClose final : SpoolAtStart {
        explicit OneClose(testing::FailingStore& store) : store(store) {}
        void take_in(const IsOpen& is_open, const Say& say) override {
            ASSERT_TRUE(is_open(SessionId("a")));
            store.refused = {Call::commit};
            EXPECT_FALSE(say(Command{testing::close("a")}));
            store.refused = {};
            EXPECT_FALSE(say(Command{testing::close("a")})) << "nothing follows what was refused";
        }
        testing::FailingStore& store;
    };
    ASSERT_TRUE(recover());
    say(create("a", testing::process_owner(100)));
    OneClose spool(store_);

    WriteStep next(store_, [this] { return clocks_; });
    EXPECT_FALSE(next.recover(processes_, leftovers_, spool, "started"));

    const auto row = store_.find(SessionId("a"));
    ASSERT_TRUE(row && *row);
    EXPECT_FALSE((*row)->end);
}

TEST_F(WriteStepTrial, WithNothingOpenNothingNeedBeDone) {
    ASSERT_TRUE(recover());
    EXPECT_EQ(write_step_.max_wait(), std::nullopt);
    say(create("a", testing::process_owner(100)));
    const auto without_deadlines = write_step_.max_wait();
    say(create("b", lease_owner(30s)));
    ASSERT_TRUE(without_deadlines);
    EXPECT_LT(write_step_.max_wait(), *without_deadlines) << "a lease may run out";
}

TEST_F(WriteStepTrial, WhatFellDueAndDoesNotFitIntoOneStepIsDoneAtOnce) {
    ASSERT_TRUE(recover());
    constexpr std::size_t more_than_fit = limits::batch_commands_max + 1;
    for (std::size_t i = 0; i < more_than_fit; ++i) {
        say(create(fmt::format("s{}", i), testing::process_owner(100)));
    }

    say(testing::gone(100, testing::exited(3)), /*observed=*/true);

    EXPECT_GT(write_step_.state().open_count(), 0U);
    EXPECT_EQ(write_step_.max_wait(), 0ms);
    write_step_.take({}, clocks_);
    write_step_.step();
    EXPECT_EQ(write_step_.state().open_count(), 0U);
    EXPECT_EQ(write_step_.max_wait(), std::nullopt);
}

TEST_F(WriteStepTrial, AnObserversWordThatTheStoreRefusesIsSaidAgain) {
    ASSERT_TRUE(recover());
    say(create("a", testing::process_owner(100)));
    store_.refused = {Call::commit};

    EXPECT_TRUE(say(testing::gone(100, testing::exited(3)), /*observed=*/true).failed);

    EXPECT_TRUE(write_step_.has_unheard());
    EXPECT_TRUE(write_step_.is_failing());
    EXPECT_GT(write_step_.max_wait(), 0ms) << "a store that fails is not asked all the time";
    store_.refused = {};
    write_step_.take({}, clocks_);
    EXPECT_FALSE(write_step_.step().failed);
    EXPECT_EQ(write_step_.state().open_count(), 0U);
    EXPECT_FALSE(write_step_.has_unheard());
}

TEST_F(WriteStepTrial, AStoreThatFailedHasFailedUntilItTakesSomething) {
    ASSERT_TRUE(recover());
    store_.refused = {Call::commit};
    EXPECT_FALSE(say(create("a", lease_owner())).replies.front());

    write_step_.take({}, clocks_);
    EXPECT_TRUE(write_step_.step().failed) << "nobody asks for anything, and still";
    EXPECT_TRUE(write_step_.is_failing());

    store_.refused = {};
    write_step_.take({}, clocks_);
    EXPECT_FALSE(write_step_.step().failed);
    EXPECT_FALSE(write_step_.is_failing());
}

TEST_F(WriteStepTrial, OldEventsThatCannotBeLetGoOfStay) {
    ASSERT_TRUE(recover());
    for (int i = 0; i < 5; ++i) say(create(fmt::format("s{}", i), lease_owner()));
    const Retention two{.keep_for = 24h, .keep_count = 2};
    for (const auto call : {Call::log_age, Call::trim}) {
        pass(2h);
        say(testing::beat("s0"));
        store_.refused = {call};
        EXPECT_FALSE(write_step_.trim(two)) << static_cast<int>(call);
        EXPECT_EQ(write_step_.first_seq(), 1);
        store_.refused = {};
    }
    pass(2min);
    say(testing::beat("s0"));
    const auto trimmed = write_step_.trim(two);
    ASSERT_TRUE(trimmed && *trimmed);
    EXPECT_EQ((*trimmed)->from, 1);
    EXPECT_EQ(write_step_.first_seq(), (*trimmed)->to + 1);
}

TEST_F(WriteStepTrial, TheLastSignsOfLifeMayBeRefused) {
    ASSERT_TRUE(recover());
    say(create("a", lease_owner()));
    store_.refused = {Call::commit};
    EXPECT_FALSE(write_step_.save_all_seen());
    store_.refused = {};
    EXPECT_TRUE(write_step_.save_all_seen());
}

}  // namespace
}  // namespace knell
