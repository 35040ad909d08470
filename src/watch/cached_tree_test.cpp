#include "watch/cached_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.hpp"

namespace knell {
namespace {

TEST(CachedTree, WhatWasReadOnceStaysAsItWas) {
    testing::FakeTree tree;
    tree.processes[1];
    tree.processes[2].stat.parent = 1;
    tree.processes[2].environment = "A=2";
    const CachedTree cached(tree);
    EXPECT_THAT(*cached.children(1), ::testing::ElementsAre(2));
    EXPECT_THAT(cached.pids(), ::testing::ElementsAre(1, 2));
    EXPECT_EQ(cached.environment(2), "A=2");
    EXPECT_EQ(cached.stat(2)->parent, 1);

    tree.processes.clear();

    EXPECT_THAT(*cached.children(1), ::testing::ElementsAre(2));
    EXPECT_THAT(cached.pids(), ::testing::ElementsAre(1, 2));
    EXPECT_EQ(cached.environment(2), "A=2");
    EXPECT_EQ(cached.stat(2)->parent, 1);
}

}  // namespace
}  // namespace knell
