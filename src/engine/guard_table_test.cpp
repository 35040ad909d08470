#include "engine/guard_table.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

GuardState with_errors(std::uint32_t errors) {
    GuardState state;
    state.errors = errors;
    return state;
}

TEST(GuardTable, HoldsWhatWasReported) {
    GuardTable table;
    EXPECT_EQ(table.find(1), nullptr);
    table.set(1, with_errors(2));
    EXPECT_EQ(table.find(1)->errors, 2U);
    table.settle();
    table.forget(1);
    EXPECT_EQ(table.find(1), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST(GuardTable, WhatWasNotSettledIsTakenBack) {
    GuardTable table;
    table.set(1, with_errors(1));
    table.set(2, with_errors(2));
    table.settle();

    table.set(1, with_errors(7));
    table.set(1, with_errors(8));
    table.forget(2);
    table.forget(2);
    table.set(3, with_errors(3));
    table.forget(4);
    table.revert();

    EXPECT_EQ(table.find(1)->errors, 1U);
    EXPECT_EQ(table.find(2)->errors, 2U);
    EXPECT_EQ(table.find(3), nullptr);
    EXPECT_EQ(table.size(), 2U);
    table.revert();
    EXPECT_EQ(table.size(), 2U);
}

TEST(GuardTable, WhatIsForgottenAndComesAgainIsTakenBackToTheFirst) {
    GuardTable table;
    table.set(1, with_errors(1));
    table.settle();
    table.forget(1);
    table.set(1, with_errors(5));
    table.revert();
    EXPECT_EQ(table.find(1)->errors, 1U);
}

}  // namespace
}  // namespace knell
