// How old events are goes by time that really passed, as this node saw it.

#include "stores.hpp"
#include "testing/fake_processes.hpp"
#include "testing/no_leftovers.hpp"
#include "writer/write_step.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class LogAgeStory : public ::testing::TestWithParam<StoreKind> {
  protected:
    LogAgeStory() : under_test_(GetParam().make()) {
        start();
        say();
    }

    void start() {
        write_step_ =
            std::make_unique<WriteStep>(under_test_->store(), [this] { return readings_; });
        ASSERT_TRUE(write_step_->recover(processes_, leftovers_, spool_, "started"));
        look();
    }
    /// As a crash: nothing is said before.
    void restart() {
        write_step_.reset();
        under_test_->reopen();
        start();
    }
    void look() {
        write_step_->take({}, readings_);
        write_step_->step();
        ASSERT_TRUE(write_step_->trim({.keep_for = 30 * 24h, .keep_count = 1'000'000}));
    }
    void say() {
        std::vector<WriteStep::Submission> words;
        words.push_back({Announce{}, /*observed=*/false, readings_});
        write_step_->take(std::move(words), readings_);
        write_step_->step();
    }
    /// The daemon runs and looks now and then.
    void pass(std::chrono::hours time) {
        for (; time > 0h; time -= 6h) {
            readings_.wall += 6h;
            readings_.awake += 6h;
            readings_.boot += 6h;
            look();
        }
    }
    bool has_first() const { return write_step_->first_seq() == 1; }

    AwakeClock::Readings readings_{from_millis(1'800'000'000'000), SteadyTime{100s},
                                   SteadyTime{100s}};
    FakeProcesses processes_;
    NoLeftovers leftovers_;
    NoSpool spool_;
    std::unique_ptr<StoreUnderTest> under_test_;
    std::unique_ptr<WriteStep> write_step_;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, LogAgeStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(LogAgeStory, AClockThatIsSetErasesNothing) {
    for (const auto step : {32 * 24h, -64 * 24h, 400 * 24h}) {
        readings_.wall += step;
        pass(12h);
        restart();
        EXPECT_TRUE(has_first());
    }
}

TEST_P(LogAgeStory, AMonthThatReallyPassedDoes) {
    pass(29 * 24h);
    EXPECT_TRUE(has_first());
    say();

    pass(2 * 24h);

    EXPECT_FALSE(has_first());
}

TEST_P(LogAgeStory, TheNewestStaysHoweverOldItIsAndNumberingGoesOn) {
    say();
    say();
    const auto newest = under_test_->store().heads()->seq;
    pass(90 * 24h);
    EXPECT_EQ(write_step_->first_seq(), newest);

    restart();
    pass(90 * 24h);
    say();

    const auto heads = *under_test_->store().heads();
    EXPECT_GT(heads.seq, newest);
    EXPECT_GE(heads.first_seq, newest);
}

TEST_P(LogAgeStory, TimeInTheSameBootCountsWhileNoDaemonRan) {
    pass(6h);
    say();
    readings_.wall += 32 * 24h;
    readings_.boot += 32 * 24h;
    restart();
    say();
    pass(6h);

    EXPECT_FALSE(has_first());
}

TEST_P(LogAgeStory, AMonthSwitchedOffCountsOnlyFromTheNextBootOn) {
    pass(24h);
    readings_ = {readings_.wall + 60 * 24h, SteadyTime{50s}, SteadyTime{50s}};
    processes_.set_boot_id("boot-2");
    restart();
    pass(24h);
    EXPECT_TRUE(has_first());

    say();
    pass(30 * 24h);

    EXPECT_FALSE(has_first());
}

}  // namespace
}  // namespace knell::testing
