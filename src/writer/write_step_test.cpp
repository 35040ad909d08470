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
    for (const auto call :
         {Call::heads, Call::open, Call::unsettled, Call::processes, Call::commit}) {
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
        explicit OneClose(testing::FailingStore& failing) : store(failing) {}
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

TEST_F(WriteStepTrial, BackgroundProcessesAreLookedAtBeforeAnybodyCanAsk) {
    ASSERT_TRUE(recover());
    say(create("a", testing::hosted_owner()));
    for (const auto pid : {7, 8, 9}) say(testing::record_process("a", pid));
    say(testing::stop_process(9));
    pass(1h);
    processes_.start(7, 7);
    processes_.start(8, 99);  // a stranger
    processes_.start(9, 7);
    WriteStep next(store_, [this] { return clocks_; });

    const auto recovered = next.recover(processes_, leftovers_, spool_, "started");

    ASSERT_TRUE(recovered);
    std::vector<ProcessId> watched;
    std::vector<ProcessId> stopped;
    std::vector<ProcessId> let_go;
    for (const auto& effect : recovered->effects) {
        if (const auto* one = std::get_if<WatchProcess>(&effect))
            watched.push_back(one->process.id);
        if (const auto* one = std::get_if<StopTree>(&effect)) stopped.push_back(one->id);
        if (const auto* one = std::get_if<UnwatchProcess>(&effect)) let_go.push_back(one->id);
        EXPECT_FALSE(std::holds_alternative<OpenGate>(effect)) << "nothing is run twice";
    }
    using testing::process_id;
    EXPECT_EQ(watched, (std::vector{process_id(7), process_id(9)}));
    EXPECT_EQ(stopped, std::vector{process_id(9)}) << "what was asked goes on";
    EXPECT_EQ(let_go, std::vector{process_id(8)});
    EXPECT_EQ(next.state().processes().find(process_id(8)), nullptr);
    EXPECT_EQ(next.state().find(SessionId("a"))->status(), Status::background);
}

TEST_F(WriteStepTrial, AResetThatIsDueAtAStartHidesNoDeath) {
    ASSERT_TRUE(recover());
    for (const auto* id : {"dead", "alive"}) {
        auto opened = create(id, testing::process_owner(id[0] == 'd' ? 100 : 101));
        opened.draft.key = id;
        say(std::move(opened));
    }
    processes_.start(101, 7);
    pass(1h);
    WriteStep next(store_, [this] { return clocks_; });
    next.set_reset_policies(testing::idle_policy(10min));

    ASSERT_TRUE(next.recover(processes_, leftovers_, spool_, "started"));
    EXPECT_EQ((*store_.find(SessionId("dead")))->end->reason, Reason::owner_lost);
    next.step();
    EXPECT_EQ((*store_.find(SessionId("alive")))->end->reason, Reason::idle_expiry);
}

TEST_F(WriteStepTrial, WhoSpokeWhileItStalledIsHeardBeforeItsSessionIsReset) {
    ASSERT_TRUE(recover());
    write_step_.set_reset_policies(testing::idle_policy(10min));
    for (const auto* id : {"silent", "spoken"}) {
        auto opened = create(id, testing::process_owner(100));
        opened.draft.key = id;
        say(std::move(opened));
    }
    const auto is_open = [this](const char* id) { return !(*store_.find(SessionId(id)))->end; };
    const auto look = [this] {
        pass(400ms);
        write_step_.take({}, clocks_);
        write_step_.step();
    };

    pass(11min);
    write_step_.take({}, clocks_);
    write_step_.step();
    EXPECT_TRUE(is_open("silent") && is_open("spoken")) << "nobody could be heard";
    EXPECT_TRUE(say(testing::append("spoken", 1, {"here"})).replies.front());
    for (int i = 0; i < 4; ++i) look();

    EXPECT_FALSE(is_open("silent"));
    EXPECT_TRUE(is_open("spoken"));
}

TEST_F(WriteStepTrial, StallsOneAfterTheOtherPutNoResetOffForEver) {
    ASSERT_TRUE(recover());
    write_step_.set_reset_policies(testing::idle_policy(10min));
    auto opened = create("silent", testing::process_owner(100));
    opened.draft.key = "silent";
    say(std::move(opened));

    for (int i = 0; i < 5; ++i) {
        pass(11min);
        write_step_.take({}, clocks_);
        write_step_.step();
    }

    EXPECT_TRUE((*store_.find(SessionId("silent")))->end);
}

TEST_F(WriteStepTrial, OfAnotherBootNoBackgroundProcessIsLeft) {
    ASSERT_TRUE(recover());
    say(create("a", testing::hosted_owner()));
    say(testing::record_process("a", 7));
    processes_.start(7, 7);
    processes_.set_boot_id("boot-2");
    WriteStep next(store_, [this] { return clocks_; });
    ASSERT_TRUE(next.recover(processes_, leftovers_, spool_, "started"));
    const auto row = (*store_.open_reader())->process(testing::process_id(7));
    ASSERT_TRUE(row && *row && (**row).process.exit);
    EXPECT_EQ((**row).process.exit->kind, ExitKind::host_restart);
    EXPECT_EQ(next.state().find(SessionId("a"))->status(), Status::detached);
}

TEST_F(WriteStepTrial, AVouchIsWaitedForAndAProcessWithoutASessionLookedAt) {
    ASSERT_TRUE(recover());
    say(create("a", testing::process_owner(100)));
    say(testing::record_process("a", 7));
    say(testing::close("a"));
    const auto without_deadlines = write_step_.max_wait();
    ASSERT_TRUE(without_deadlines) << "its exit is to have narrow bounds";
    say(testing::vouch(7, clocks_.wall + 1h));
    EXPECT_EQ(write_step_.max_wait(), without_deadlines) << "the clock may be set";
    pass(1h - 60ms);
    write_step_.take({}, clocks_);
    write_step_.step();
    EXPECT_EQ(write_step_.max_wait(), 60ms);
    pass(60ms);
    write_step_.take({}, clocks_);
    write_step_.step();
    EXPECT_EQ(write_step_.state().next_vouch_end(), std::nullopt);
    say(testing::process_gone(7, testing::exited(0)), /*observed=*/true);
    EXPECT_EQ(write_step_.max_wait(), std::nullopt);
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

TEST_F(WriteStepTrial, TheIndexFollowsBackToBackWhileNothingIsWritten) {
    ASSERT_TRUE(recover());
    ASSERT_TRUE(write_step_.index_messages());  // sees that something was
    pass(60ms);
    store_.has_more_to_index = true;
    const int before = store_.indexings;
    for (int batch = 1; batch <= 3; ++batch) {
        ASSERT_TRUE(write_step_.index_messages());
        EXPECT_EQ(store_.indexings, before + batch);
        EXPECT_EQ(write_step_.max_wait(), 0ms);
    }
    store_.has_more_to_index = false;
    ASSERT_TRUE(write_step_.index_messages());
    EXPECT_EQ(write_step_.max_wait(), std::nullopt) << "nothing is left";
}

TEST_F(WriteStepTrial, TheIndexTakesASmallShareOfTheTimeWhileSomethingIsWritten) {
    ASSERT_TRUE(recover());
    say(create("a", testing::process_owner(100)));
    store_.has_more_to_index = true;
    store_.on_index = [this] { pass(5ms); };
    constexpr std::chrono::milliseconds all_of_it = 10s;
    const auto end = clocks_.boot + all_of_it;
    int number = 0;
    while (clocks_.boot < end) {
        pass(1ms);
        say(testing::append("a", 1, {fmt::format("message {}", ++number)}));
        ASSERT_TRUE(write_step_.index_messages());
    }
    EXPECT_GT(store_.indexings, 50) << "it does not stand still";
    EXPECT_LE(store_.indexings * 5ms, all_of_it / 18);
}

TEST_F(WriteStepTrial, WhatWasSaidInAPauseOfTheIndexIsPutInAfterIt) {
    ASSERT_TRUE(recover());
    say(create("a", testing::process_owner(100)));
    ASSERT_TRUE(write_step_.index_messages());
    say(testing::append("a", 1, {"one"}));
    ASSERT_TRUE(write_step_.index_messages());
    EXPECT_EQ(store_.indexings, 1) << "it pauses";
    const auto wait = write_step_.max_wait();
    ASSERT_TRUE(wait);
    EXPECT_LE(*wait, 20ms);
    pass(*wait);
    write_step_.take({}, clocks_);
    write_step_.step();
    ASSERT_TRUE(write_step_.index_messages());
    EXPECT_EQ(store_.indexings, 2);
}

TEST_F(WriteStepTrial, AnIndexThatTheStoreRefusesIsTriedAgainLater) {
    ASSERT_TRUE(recover());
    pass(60ms);
    store_.refused = {Call::index};
    EXPECT_FALSE(write_step_.index_messages());
    store_.refused = {};
    ASSERT_TRUE(write_step_.index_messages());
    EXPECT_EQ(store_.indexings, 0) << "not at once";
    pass(31s);
    ASSERT_TRUE(write_step_.index_messages());
    EXPECT_EQ(store_.indexings, 1);
}

}  // namespace
}  // namespace knell
