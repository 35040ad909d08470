#include "cli/run_child.hpp"

#include <cerrno>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "testing/refused_calls.hpp"

namespace knell::cli {
namespace {

TEST(HeldChild, WhatTheKernelRefusesIsSaid) {
    const RunSignals signals;
    for (const auto& calls : {std::vector<long>{SYS_socketpair}, {SYS_clone, SYS_clone3}}) {
        testing::with_refused_calls(calls, EAGAIN, [&] {
            const auto child = HeldChild::start({"true"}, signals);
            ASSERT_FALSE(child);
            EXPECT_EQ(child.error().message,
                      "cannot start a process: Resource temporarily unavailable");
        });
    }
    signals.restore();
}

}  // namespace
}  // namespace knell::cli
