#include "platform/private_group.hpp"

#include <string>

#include <gtest/gtest.h>

namespace knell {
namespace {

constexpr std::string_view passwd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "ann:x:1000:1000:Ann:/home/ann:/bin/sh\n"
    "bob:x:1001:1001::/home/bob:/bin/sh\n"
    "cyd:x:1002:100::/home/cyd:/bin/sh\n"
    "dan:x:1003:100::/home/dan:/bin/sh\n";
constexpr std::string_view groups =
    "root:x:0:\nusers:x:100:\nann:x:1000:\nbob:x:1001:ann\nstaff:x:50:\n";

bool is_private(uid_t owner, gid_t gid) {
    return is_private_group(passwd, groups, owner, gid);
}

TEST(PrivateGroup, IsTheOwnersOwnWithNobodyElseInIt) {
    EXPECT_TRUE(is_private(1000, 1000));
    EXPECT_TRUE(is_private(0, 0));
    EXPECT_TRUE(is_private_group(passwd, "ann:x:1000:ann,root\n", 1000, 1000));
}

TEST(PrivateGroup, IsNoneThatSomebodyElseIsIn) {
    EXPECT_FALSE(is_private(1001, 1001)) << "lists a member";
    EXPECT_FALSE(is_private(1002, 100)) << "is the primary group of another user";
    EXPECT_FALSE(is_private_group(passwd, "ann:x:1000:eve\n", 1000, 1000)) << "nobody knows who";
    EXPECT_FALSE(is_private_group(passwd, "ann:x:1000:\nalso:x:1000:bob\n", 1000, 1000));
}

TEST(PrivateGroup, IsNoneThatIsNotTheOwners) {
    EXPECT_FALSE(is_private(1000, 50)) << "nobody's";
    EXPECT_FALSE(is_private(1000, 0)) << "root's";
    EXPECT_FALSE(is_private(7777, 1000));
}

TEST(PrivateGroup, WhatCannotBeToldIsNone) {
    EXPECT_FALSE(is_private_group(passwd, "root:x:0:\n", 1000, 1000)) << "not listed at all";
    EXPECT_FALSE(is_private_group(passwd, std::string(groups) + "+::::\n", 1000, 1000));
    EXPECT_FALSE(is_private_group(std::string(passwd) + "+::::\n", groups, 1000, 1000));
    EXPECT_FALSE(is_private_group("", "", 1000, 1000));
}

}  // namespace
}  // namespace knell
