// No more hooks run at once than there is room for; those that wait take turns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/hook_trial.hpp"

namespace knell {
namespace {

using ::testing::SizeIs;

class HookRoom : public ::testing::Test, public testing::HookTrial {
  protected:
    /// A hook of that name that runs until its gate is opened.
    Fd start_gated(AttemptId attempt, const std::string& name) {
        const auto file = "gate-" + std::to_string(attempt);
        auto gate = fifo(file);
        auto hook = shell("read x < " + file);
        hook.name = name;
        two_.start(attempt, hook, std::make_shared<const RenderedEvent>(rendered()), SteadyTime{});
        return gate;
    }
    /// Opens a gate and waits until its hook is seen to have ended.
    void end(const Fd& gate) {
        testing::write_line(gate);
        std::vector<Finished> finished;
        while (finished.empty()) {
            std::vector<pollfd> descriptors;
            two_.add_descriptors(descriptors);
            ASSERT_GT(::poll(descriptors.data(), descriptors.size(), /*millis=*/60'000), 0);
            two_.step(SteadyTime{});
            finished = two_.take_finished();
        }
        ASSERT_THAT(finished, SizeIs(1));
        ended_.push_back(finished.front().attempt);
    }
    ~HookRoom() override { two_.cancel_all(); }

    HookRunner two_{"node", /*running_max=*/2};
    std::vector<AttemptId> ended_;
};

TEST_F(HookRoom, WhoFindsNoneWaitsForOneToEnd) {
    const auto first = start_gated(1, "a");
    const auto second = start_gated(2, "b");
    const auto third = start_gated(3, "c");
    EXPECT_EQ(two_.running(), 2U);
    EXPECT_EQ(two_.waiting(), 1U);
    EXPECT_EQ(two_.shortage(), "") << "nothing is wrong with that";

    end(second);

    EXPECT_EQ(two_.running(), 2U);
    EXPECT_EQ(two_.waiting(), 0U);
    end(third);
    end(first);
    EXPECT_THAT(ended_, ::testing::ElementsAre(2, 3, 1));
}

TEST_F(HookRoom, AHookThatHasMuchToDoLeavesSomeToTheOthers) {
    const auto first = start_gated(1, "busy");
    const auto second = start_gated(2, "busy");
    const auto third = start_gated(3, "busy");
    const auto other = start_gated(4, "other");

    end(first);

    EXPECT_EQ(two_.waiting(), 1U);
    end(other);
    end(third);
    end(second);
}

}  // namespace
}  // namespace knell
