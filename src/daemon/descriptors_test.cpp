#include "daemon/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace knell {
namespace {

/// The hard limit of a process can only go down: each case in a child of its own.
void raise_from(rlim_t hard) {
    const rlimit limit{.rlim_cur = 20, .rlim_max = hard};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) std::_Exit(9);
    const auto raised = raise_descriptor_limit();
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    if (!raised) {
        std::fprintf(stderr, "%s", raised.error().message.c_str());
        std::_Exit(raised.error().code == ErrorCode::limit ? 1 : 9);
    }
    std::fprintf(stderr, "%zu clients, %zu owners, %zu processes, %zu hooks of %zu",
                 raised->clients_max, raised->owners_max, raised->processes_max, raised->hooks_max,
                 static_cast<std::size_t>(now.rlim_cur));
    std::_Exit(0);
}

void expect_shares(rlim_t hard, const char* shares) {
    EXPECT_EXIT(raise_from(hard), ::testing::ExitedWithCode(0), shares);
}

TEST(Descriptors, TheSoftLimitIsRaisedAndSharedOut) {
    expect_shares(1000, "427 clients, 212 owners, 70 processes, 58 hooks of 1000");
}

TEST(Descriptors, OfManyMostAreForClientsAndOwners) {
    expect_shares(20'000, "15765 clients, 2365 owners, 788 processes, 256 hooks of 20000");
}

TEST(Descriptors, PidfdsGrowOnWhenClientsHaveEnough) {
    expect_shares(9'000, "4846 clients, 2304 owners, 768 processes, 256 hooks of 9000");
    expect_shares(18'000, "13846 clients, 2304 owners, 768 processes, 256 hooks of 18000");
}

TEST(Descriptors, FewAreEnoughForAllThatMustBe) {
    expect_shares(256, "90 clients, 45 owners, 15 processes, 12 hooks of 256");
    expect_shares(descriptors_min, "7 clients, 2 owners, 0 processes, 2 hooks of 72");
}

TEST(Descriptors, TooFewAreRefusedWithWhatToDo) {
    EXPECT_EXIT(raise_from(descriptors_min - 1), ::testing::ExitedWithCode(1),
                "only 71 files may be open at once, and knell needs 72");
}

}  // namespace
}  // namespace knell
