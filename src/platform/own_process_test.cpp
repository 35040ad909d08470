#include "platform/own_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "platform/fd.hpp"

namespace knell {
namespace {

TEST(OwnProcess, ReadsThreadsAndMemory) {
    const auto found = parse_own_status(
        "Name:\tknell\nVmPeak:\t  90000 kB\nVmRSS:\t   4012 kB\nRssAnon:\t 1 kB\nThreads:\t8\n");
    EXPECT_EQ(found, (OwnProcess{.threads = 8, .resident_bytes = 4012 * 1024}));
}

TEST(OwnProcess, WhatIsNotToldIsNone) {
    EXPECT_EQ(parse_own_status(""), OwnProcess{});
    EXPECT_EQ(parse_own_status("VmRSS:\nThreads:\tmany"), OwnProcess{});
}

TEST(OwnProcess, IsThisOne) {
    const auto before = read_own_process();
    const Fd another(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const auto after = read_own_process();

    EXPECT_GE(before.threads, 1);
    EXPECT_GT(before.resident_bytes, 100'000);
    EXPECT_EQ(after.descriptors, before.descriptors + 1);
    EXPECT_GT(before.descriptors_max, before.descriptors);
}

}  // namespace
}  // namespace knell
