#include "daemon/daemon_place.hpp"

#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

const DaemonPlace container{.pid = 1, .pid_namespace = 77, .boot_id = "boot"};
const DaemonPlace ours{.pid = 1, .pid_namespace = 88, .boot_id = "boot"};

TEST(DaemonPlace, TheFirstProcessOfANamespaceTakesItAlong) {
    EXPECT_EQ(ended_namespace(container, ours), 77U);
}

TEST(DaemonPlace, AnyOtherProcessSaysNothingOfItsNamespace) {
    auto before = container;
    before.pid = 7;
    EXPECT_EQ(ended_namespace(before, ours), std::nullopt);
}

TEST(DaemonPlace, AnotherBootOrNoneSaysNothing) {
    auto before = container;
    before.boot_id = "another";
    EXPECT_EQ(ended_namespace(before, ours), std::nullopt);
    before.boot_id = "";
    EXPECT_EQ(ended_namespace(before, {.pid = 1, .pid_namespace = 88, .boot_id = ""}),
              std::nullopt);
    EXPECT_EQ(ended_namespace(std::nullopt, ours), std::nullopt);
}

TEST(DaemonPlace, OurOwnNamespaceIsNotOver) {
    EXPECT_EQ(ended_namespace(ours, ours), std::nullopt);
}

TEST(DaemonPlace, IsTakenOverFromOneDaemonToTheNext) {
    const testing::TempFolder folder;
    const auto path = folder.path() + "/place";

    EXPECT_EQ(take_place(path, container), std::nullopt);
    EXPECT_EQ(take_place(path, ours), 77U);
    EXPECT_EQ(take_place(path, container), 88U);
}

TEST(DaemonPlace, WhatIsCutShortIsNothing) {
    EXPECT_TRUE(parse_daemon_place("1 77 boot\n"));
    EXPECT_FALSE(parse_daemon_place("1 77 boo"));
    EXPECT_FALSE(parse_daemon_place("1 77"));
    EXPECT_FALSE(parse_daemon_place("1"));
    EXPECT_FALSE(parse_daemon_place(""));
}

}  // namespace
}  // namespace knell
