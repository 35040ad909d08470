#include "daemon/read_queue.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using rpc::ConnectionId;
using testing::ElementsAre;

constexpr ConnectionId one{1};
constexpr ConnectionId two{2};

/// Reads that only say their names.
class ReadQueueTest : public testing::Test {
  protected:
    bool push(ConnectionId asker, const std::string& name) {
        return queue.push(asker, {.run = {}, .drop = [this, name] { said.push_back(name); }});
    }
    /// All that is queued, in its order.
    std::vector<std::string> all() {
        said.clear();
        queue.close();
        while (auto read = queue.pop()) read->drop();
        return said;
    }

    /// What the next one says that has a turn; "" where there is none.
    std::string next() {
        if (!queue.has_turn()) return "";
        queue.pop()->drop();
        return said.back();
    }

    ReadQueue queue{/*size_max=*/4, /*owed_max=*/100};
    std::vector<std::string> said;
};

TEST_F(ReadQueueTest, ConnectionsTakeTurnsAndEachKeepsItsOrder) {
    push(one, "a");
    push(one, "b");
    push(one, "c");
    push(two, "x");

    EXPECT_THAT(all(), ElementsAre("a", "x", "b", "c"));
}

TEST_F(ReadQueueTest, OneThatIsTakenOutLeavesTheOthers) {
    push(one, "a");
    push(two, "x");
    push(one, "b");

    for (auto& read : queue.take_out(one)) read.drop();

    EXPECT_THAT(said, ElementsAre("a", "b"));
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_TRUE(queue.take_out(one).empty());
    push(one, "c");
    EXPECT_THAT(all(), ElementsAre("x", "c"));
}

TEST_F(ReadQueueTest, OneThatIsHeldHasNoTurnUntilItIsNot) {
    push(one, "a");
    push(one, "b");
    push(two, "x");
    push(two, "y");
    queue.hold(one, true);
    EXPECT_EQ(next(), "x");
    EXPECT_EQ(next(), "y");
    EXPECT_EQ(next(), "");
    push(one, "c");
    EXPECT_EQ(next(), "") << "what it asks for waits too";
    EXPECT_EQ(queue.size(), 3U);

    queue.hold(one, false);

    EXPECT_EQ(next(), "a");
    EXPECT_THAT(all(), ElementsAre("b", "c"));
}

TEST_F(ReadQueueTest, OneThatIsOwedMuchHasNoTurnUntilItHasIt) {
    push(one, "a");
    push(one, "b");
    push(one, "c");
    EXPECT_EQ(next(), "a");
    queue.owe(one, 99);
    EXPECT_EQ(next(), "b");
    queue.owe(one, 1);
    EXPECT_EQ(next(), "");
    push(two, "x");
    EXPECT_EQ(next(), "x");

    queue.hold(one, true);
    queue.settle(one, 100);
    EXPECT_EQ(next(), "") << "its client has yet to take it";
    queue.hold(one, false);
    EXPECT_EQ(next(), "c");
}

TEST_F(ReadQueueTest, OneThatHangsUpIsHeldNoMore) {
    push(one, "a");
    queue.hold(one, true);
    queue.owe(one, 100);
    EXPECT_EQ(queue.take_out(one).size(), 1U);
    EXPECT_EQ(queue.size(), 0U);
    queue.settle(one, 100);
    push(one, "b");
    EXPECT_EQ(next(), "b");
}

TEST_F(ReadQueueTest, WhenItIsClosedNobodyIsHeld) {
    push(one, "a");
    push(two, "x");
    queue.hold(one, true);
    queue.owe(two, 100);
    EXPECT_EQ(next(), "");

    EXPECT_THAT(all(), testing::UnorderedElementsAre("a", "x"));
}

TEST_F(ReadQueueTest, FullAndClosedAreAnswers) {
    for (const auto* name : {"a", "b", "c", "d"}) EXPECT_TRUE(push(one, name));
    EXPECT_FALSE(push(two, "e"));
    queue.take_out(one);
    EXPECT_TRUE(push(two, "e"));

    queue.close();

    EXPECT_FALSE(push(two, "f"));
    EXPECT_TRUE(queue.pop().has_value());
    EXPECT_FALSE(queue.pop().has_value());
}

}  // namespace
}  // namespace knell
