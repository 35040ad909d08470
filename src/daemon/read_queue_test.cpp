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

    ReadQueue queue{4};
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
