// Calls that queue up behind a slow disk: a sign of life counts when it arrives.

#include "stores.hpp"
#include "testing/fake_processes.hpp"
#include "testing/no_leftovers.hpp"
#include "writer/write_step.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

/// A clock that a test sets, and a write step that decides two words at a time.
class Queue : public ::testing::Test {
  protected:
    Queue() {
        EXPECT_TRUE(write_step_.recover(processes_, leftovers_, spool_, "started"));
        say(0ms, create("a", lease_owner(5s)));
        run();
    }

    static AwakeClock::Readings reading(std::chrono::milliseconds time) {
        return {from_millis(1'800'000'000'000) + time, SteadyTime{1000s} + time,
                SteadyTime{1000s} + time};
    }
    void say(std::chrono::milliseconds arrived, Input input) {
        words_.push_back({std::move(input), /*observed=*/false, reading(arrived)});
    }
    /// All that was said, group by group; each takes a second on its way to the disk.
    void run() {
        write_step_.take(std::exchange(words_, {}), reading(now_));
        do {
            for (const auto& event : write_step_.step().events) {
                if (event.end) ended_.push_back(event);
            }
            now_ += 1s;
        } while (write_step_.has_submissions());
    }
    /// Somebody listens all the time, and nobody calls.
    void pass(std::chrono::milliseconds time) {
        for (const auto end = now_ + time; now_ < end;) {
            now_ += 100ms;
            write_step_.take({}, reading(now_));
            for (const auto& event : write_step_.step().events) {
                if (event.end) ended_.push_back(event);
            }
        }
    }

    std::unique_ptr<Store> store_ = make_memory_store();
    FakeProcesses processes_;
    NoLeftovers leftovers_;
    NoSpool spool_;
    std::chrono::milliseconds now_{0};
    WriteStep write_step_{*store_, [this] { return reading(now_); }, /*group_max=*/2};
    std::vector<WriteStep::Submission> words_;
    std::vector<Event> ended_;
};

TEST_F(Queue, NoLeaseIsReapedWhileItsRenewalWaits) {
    for (int i = 0; i < 20; ++i) {
        say(1000ms + i * 100ms, create("p" + std::to_string(i), process_owner(100)));
        if (i % 10 == 9) say(1000ms + i * 100ms, beat("a"));
    }
    now_ = 3s;

    run();  // eleven seconds

    EXPECT_TRUE(ended_.empty());
}

TEST_F(Queue, WhatPassesBeforeANewDaemonListensCountsAgainstNoLease) {
    now_ = 10s;
    // Whoever asks for the time finds that much more of it gone.
    WriteStep next(*store_, [this] { return reading(now_ += 400ms); });
    ASSERT_TRUE(next.recover(processes_, leftovers_, spool_, "started again"));
    now_ += 400ms;
    next.listen_from_now();
    const auto from = now_;
    std::vector<Event> ends;
    while (ends.empty() && now_ < from + 30s) {
        next.take({}, reading(now_));
        for (const auto& event : next.step().events) {
            if (event.end) ends.push_back(event);
        }
    }

    ASSERT_EQ(ends.size(), 1U);
    EXPECT_GE(ends[0].end->ended_before, reading(from + 5s).wall);
}

TEST_F(Queue, TheLastSignOfLifeIsWhenItArrived) {
    say(3000ms, beat("a"));
    now_ = 4500ms;
    run();
    pass(10s);

    ASSERT_EQ(ended_.size(), 1U);
    EXPECT_EQ(ended_[0].end->reason, Reason::reaped);
    EXPECT_EQ(ended_[0].end->ended_after, reading(3000ms).wall);
}

TEST_F(Queue, ASilentLeaseIsReapedHoweverMuchOthersCall) {
    for (int round = 0; round < 20 && ended_.empty(); ++round) {
        for (int i = 0; i < 8; ++i) {
            say(now_ + i * 100ms, create(std::to_string(round * 100 + i), process_owner(100)));
        }
        now_ += 800ms;
        run();
    }

    ASSERT_EQ(ended_.size(), 1U);
    EXPECT_LT(now_, 25s);
}

}  // namespace
}  // namespace knell::testing
