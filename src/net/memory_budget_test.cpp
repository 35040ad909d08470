#include "net/memory_budget.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace knell::net {
namespace {

TEST(MemoryBudget, IsTheSumOfAllShares) {
    int excesses = 0;
    MemoryBudget budget(100, [&] { ++excesses; });
    std::optional<BudgetShare> first(budget);
    BudgetShare second(budget);
    first->set(60);
    second.set(40);
    EXPECT_EQ(budget.held(), 100U);
    EXPECT_EQ(excesses, 0);

    second.set(41);
    EXPECT_TRUE(budget.is_exceeded());
    EXPECT_EQ(excesses, 1);
    second.set(41);
    EXPECT_EQ(excesses, 1) << "only what grows is told";

    first.reset();
    EXPECT_EQ(budget.held(), 41U) << "who goes gives its share back";
    EXPECT_FALSE(budget.is_exceeded());
}

}  // namespace
}  // namespace knell::net
