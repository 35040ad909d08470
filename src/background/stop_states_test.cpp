#include "background/stop_states.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

class StopStatesTest : public ::testing::Test {
  protected:
    const ProcessId id = ProcessId::from_bits(1);
    StopStates states;
};

TEST_F(StopStatesTest, OneIsBeingStoppedFromTheOrderToItsEnd) {
    EXPECT_FALSE(states.of(id).is_stopping);
    states.ordered(id);
    EXPECT_TRUE(states.of(id).is_stopping);
    states.begun(id);
    EXPECT_TRUE(states.of(id).is_stopping);
    EXPECT_FALSE(states.of(ProcessId::from_bits(2)).is_stopping);
    states.ended(id, "");
    EXPECT_EQ(states.of(id), StopState{});
}

TEST_F(StopStatesTest, AnOrderThatComesMeanwhileJoins) {
    states.ordered(id);
    states.begun(id);
    states.ordered(id);
    states.begun(id);
    EXPECT_TRUE(states.of(id).is_stopping);
    states.ended(id, "");
    EXPECT_FALSE(states.of(id).is_stopping);
}

TEST_F(StopStatesTest, AnOrderThatHasNotBegunGoesOnBehindTheEnd) {
    states.ordered(id);
    states.begun(id);
    states.ordered(id);
    states.ended(id, "process 7: it owns an open session");
    EXPECT_EQ(states.of(id), (StopState{.is_stopping = true, .left = {}}));
    states.begun(id);
    states.ended(id, "");
    EXPECT_EQ(states.of(id), StopState{});
}

TEST_F(StopStatesTest, WhatWasLeftIsKnownUntilTheNextOrder) {
    states.ordered(id);
    states.begun(id);
    states.ended(id, "process 7: it owns an open session");
    EXPECT_EQ(states.of(id),
              (StopState{.is_stopping = false, .left = "process 7: it owns an open session"}));
    states.ordered(id);
    EXPECT_EQ(states.of(id), (StopState{.is_stopping = true, .left = {}}));
}

TEST_F(StopStatesTest, SoManyAreKept) {
    for (std::size_t i = 0; i <= StopStates::left_max; ++i) {
        const auto one = ProcessId::from_bits(i);
        states.ordered(one);
        states.begun(one);
        states.ended(one, "left");
    }
    EXPECT_EQ(states.of(ProcessId::from_bits(0)).left, "");
    EXPECT_EQ(states.of(ProcessId::from_bits(1)).left, "left");
    EXPECT_EQ(states.of(ProcessId::from_bits(StopStates::left_max)).left, "left");
}

}  // namespace
}  // namespace knell
