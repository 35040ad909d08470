#include "background/stop_orders.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_holder.hpp"
#include "testing/fake_tree.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Orders : public ::testing::Test {
  protected:
    Leftover start(pid_t pid, pid_t parent, int dies_of, const ProcessId& id = {}) {
        auto& process = tree.processes[pid];
        process.stat.parent = parent;
        process.stat.start_ticks = 1000 + static_cast<std::uint64_t>(pid);
        process.stat.session = pid;
        holder.dies_of[pid] = dies_of;
        Leftover leftover;
        leftover.process = tree.identity(pid, process.stat);
        leftover.fate = Fate::stopping;
        leftover.process_id = id;
        return leftover;
    }
    StopOrders::Done run(std::chrono::nanoseconds time) {
        for (const auto end = now + time; now <= end; now += 20ms) {
            auto done = orders.step(now);
            if (!done.orders.empty() || !done.trees.empty()) return done;
        }
        return {};
    }

    testing::FakeTree tree;
    testing::FakeHolder holder{tree};
    LiveOwners owners;
    StopOrders orders{
        holder, tree, {"/run/knell.sock", owners, [](auto&&...) { return std::nullopt; }}};
    SteadyTime now{1h};
};

TEST_F(Orders, ABackgroundProcessGoesWithWhatBelongsToItAndOthersAlone) {
    const auto id = ProcessId::from_bits(1);
    auto kept = start(300, 1, SIGTERM, ProcessId::from_bits(2));
    kept.fate = Fate::shared;
    orders.add(StopOrder{SessionId("s"), 1, {start(100, 1, 0, id), start(200, 1, SIGTERM), kept}},
               now);
    start(101, 100, SIGTERM);
    start(201, 200, SIGTERM);
    auto done = run(8s);
    ASSERT_THAT(done.trees, ::testing::SizeIs(1));
    EXPECT_EQ(done.trees.front().root.id, id);
    ASSERT_THAT(done.orders, ::testing::SizeIs(1)) << "whole, and not before all of it is known";
    const auto& leftovers = done.orders.front().leftovers;
    EXPECT_EQ(leftovers[0].fate, Fate::killed);
    EXPECT_EQ(leftovers[1].fate, Fate::stopped);
    EXPECT_EQ(leftovers[2].fate, Fate::shared);
    EXPECT_THAT(holder.signals[101], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_THAT(holder.signals[201], IsEmpty());
    EXPECT_THAT(holder.signals[300], IsEmpty());
    EXPECT_TRUE(orders.is_idle());
}

TEST_F(Orders, OneThatIsAskedForTwiceIsStoppedOnceAndToldTwice) {
    const auto id = ProcessId::from_bits(1);
    const auto leftover = start(100, 1, SIGTERM, id);
    orders.add(TreeRoot{id, SessionId("s"), leftover.process}, now);
    EXPECT_TRUE(orders.is_stopping(leftover.process));
    orders.add(StopOrder{SessionId("s"), 1, {leftover}}, now);
    const auto done = run(1s);
    EXPECT_EQ(done.trees.size(), 1U);
    ASSERT_EQ(done.orders.size(), 1U);
    EXPECT_EQ(done.orders.front().leftovers.front().fate, Fate::stopped);
    EXPECT_THAT(holder.signals[100], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_FALSE(orders.is_stopping(leftover.process));
}

}  // namespace
}  // namespace knell
