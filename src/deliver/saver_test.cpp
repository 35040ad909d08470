#include "deliver/saver.hpp"

#include <gtest/gtest.h>

#include "testing/commands.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::at;

SubscriberSpec spec(std::string name) {
    return {.name = std::move(name), .events = EventFilter::all(), .concurrency = 1};
}

struct SaverTest : ::testing::Test {
    DeliveryScheduler scheduler{"node", /*head=*/0};
    Saver saver;
};

TEST_F(SaverTest, SavesOneAfterTheOther) {
    scheduler.set_subscribers({spec("ops")}, at(0));
    EXPECT_TRUE(saver.is_time(scheduler, /*is_awaited=*/false, at(0).steady));
    EXPECT_EQ(saver.begin(scheduler, at(0).steady).size(), 1U);
    scheduler.pause("ops");
    EXPECT_TRUE(saver.is_saving());
    EXPECT_FALSE(saver.is_time(scheduler, /*is_awaited=*/true, at(10).steady));
    EXPECT_FALSE(saver.next_save(scheduler, /*is_awaited=*/true, at(10).steady));
    saver.finish(/*saved=*/true);
    EXPECT_FALSE(saver.is_all_saved(scheduler));
    EXPECT_EQ(saver.next_save(scheduler, /*is_awaited=*/true, at(10).steady), at(10).steady);
    EXPECT_EQ(saver.begin(scheduler, at(10).steady).size(), 1U);
    saver.finish(/*saved=*/true);
    EXPECT_TRUE(saver.is_all_saved(scheduler));
}

TEST_F(SaverTest, AwaitsAQuarterOfASecondUnlessSomebodyWaits) {
    scheduler.set_subscribers({spec("ops")}, at(0));
    saver.begin(scheduler, at(0).steady);
    saver.finish(/*saved=*/true);
    scheduler.pause("ops");
    EXPECT_FALSE(saver.is_time(scheduler, /*is_awaited=*/false, at(0).steady + 249ms));
    EXPECT_EQ(saver.next_save(scheduler, /*is_awaited=*/false, at(0).steady), at(0).steady + 250ms);
    EXPECT_TRUE(saver.is_time(scheduler, /*is_awaited=*/false, at(0).steady + 250ms));
    EXPECT_TRUE(saver.is_time(scheduler, /*is_awaited=*/true, at(0).steady));
}

TEST_F(SaverTest, SaysWhatWasRefusedBeforeWhatIsNewASecondLater) {
    scheduler.set_subscribers({spec("ops")}, at(0));
    saver.begin(scheduler, at(0).steady);
    saver.finish(/*saved=*/false);
    scheduler.set_subscribers({}, at(0));
    ASSERT_EQ(scheduler.forget("ops"), DeliveryScheduler::Forgetting::forgotten);
    EXPECT_FALSE(saver.is_time(scheduler, /*is_awaited=*/true, at(0).steady + 999ms));
    EXPECT_EQ(saver.next_save(scheduler, /*is_awaited=*/true, at(0).steady), at(1).steady);
    ASSERT_TRUE(saver.is_time(scheduler, /*is_awaited=*/false, at(1).steady));
    const auto changes = saver.begin(scheduler, at(1).steady);
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<SubscriptionSaved>(changes.front()));
    EXPECT_TRUE(std::holds_alternative<SubscriptionForgotten>(changes.back()));
}

}  // namespace
}  // namespace knell
