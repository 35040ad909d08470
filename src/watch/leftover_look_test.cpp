#include "watch/leftover_look.hpp"

#include <gtest/gtest.h>

#include "testing/fake_tree.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

constexpr pid_t wrapper = 100;
constexpr pid_t command = 101;

class Look : public ::testing::Test {
  protected:
    Look() {
        start(wrapper, 1, 990);
        start(command, wrapper, 1000);
        tree.processes[command].stat.state = 'Z';
    }
    void start(pid_t pid, pid_t parent, std::uint64_t ticks) {
        auto& process = tree.processes[pid];
        process.stat.parent = parent;
        process.stat.start_ticks = ticks;
        process.stat.session = 50;
    }
    ProcessIdentity identity(pid_t pid) const {
        return tree.identity(pid, tree.processes.at(pid).stat);
    }
    LeftoverLook look() const {
        return LeftoverLook({{.session_id = SessionId("s"),
                              .generation = 1,
                              .socket = {},
                              .command = identity(command),
                              .reaper = identity(wrapper)}});
    }

    testing::FakeTree tree;
    LiveOwners owners;
    SteadyTime now{1h};
};

TEST_F(Look, IsDoneAtOnceWhenThereIsNothing) {
    auto looking = look();

    const auto found = looking.step(tree, owners, now);

    ASSERT_TRUE(found);
    EXPECT_TRUE(found->front().leftovers.empty());
}

TEST_F(Look, GivesWhatIsJustExitingAMoment) {
    start(200, wrapper, 1001);
    start(201, wrapper, 1002);
    auto looking = look();
    ASSERT_FALSE(looking.step(tree, owners, now));
    tree.processes.erase(200);
    ASSERT_FALSE(looking.step(tree, owners, now + 20ms));

    const auto found = looking.step(tree, owners, now + LeftoverLook::grace);

    ASSERT_TRUE(found);
    const auto& leftovers = found->front().leftovers;
    ASSERT_EQ(leftovers.size(), 2U);
    EXPECT_EQ(leftovers[0].process.pid, 201);
    EXPECT_EQ(leftovers[0].fate, Fate::left);
    EXPECT_EQ(leftovers[1].process.pid, 200);
    EXPECT_EQ(leftovers[1].fate, Fate::gone);
}

TEST_F(Look, DoesNotWaitOnceAllAreGone) {
    start(200, wrapper, 1001);
    auto looking = look();
    ASSERT_FALSE(looking.step(tree, owners, now));
    tree.processes[200].stat.start_ticks = 2000;  // a stranger by now
    tree.processes[200].stat.parent = 1;

    const auto found = looking.step(tree, owners, now + 20ms);

    ASSERT_TRUE(found);
    ASSERT_EQ(found->front().leftovers.size(), 1U);
    EXPECT_EQ(found->front().leftovers[0].fate, Fate::gone);
}

TEST_F(Look, SeesWhatAppearsWithinTheMoment) {
    start(200, wrapper, 1001);
    auto looking = look();
    ASSERT_FALSE(looking.step(tree, owners, now));
    tree.processes.erase(200);
    start(300, wrapper, 1010);

    const auto found = looking.step(tree, owners, now + 20ms);

    ASSERT_TRUE(found);
    ASSERT_EQ(found->front().leftovers.size(), 2U);
    EXPECT_EQ(found->front().leftovers[0].process.pid, 300);
    EXPECT_EQ(found->front().leftovers[0].fate, Fate::left);
}

}  // namespace
}  // namespace knell
