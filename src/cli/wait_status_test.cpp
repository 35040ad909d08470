#include "cli/wait_status.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

int status_of(std::string_view reason, std::string_view detail) {
    return wait_status(JsonObject{{"reason", reason}, {"detail", detail}});
}

TEST(WaitStatus, IsThatOfTheCommand) {
    EXPECT_EQ(status_of("completed", "exit 0"), 0);
    EXPECT_EQ(status_of("exited", "exit 3"), 3);
    EXPECT_EQ(status_of("exited", "exit 143 after SIGTERM"), 143);
    EXPECT_EQ(status_of("signaled", "signal 9 (SIGKILL) after knell stop"), 137);
    EXPECT_EQ(status_of("oom_killed", ""), 137);
}

TEST(WaitStatus, IsZeroForWhatWasEndedOnPurposeAndOneForWhatNobodySaw) {
    EXPECT_EQ(status_of("completed", "cli_close"), 0);
    EXPECT_EQ(status_of("superseded", ""), 0);
    EXPECT_EQ(status_of("owner_lost", ""), 1);
    EXPECT_EQ(status_of("reaped", "lease of 45 s not renewed"), 1);
    EXPECT_EQ(status_of("a reason of a later version", ""), 1);
}

}  // namespace
}  // namespace knell::cli
