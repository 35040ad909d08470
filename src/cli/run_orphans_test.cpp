#include "cli/run_orphans.hpp"

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/leftover_rows.hpp"

namespace knell::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Children of the test that stay until this goes.
class Orphans {
  public:
    explicit Orphans(std::size_t count) {
        while (pids_.size() < count) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                for (;;) ::pause();
            }
            pids_.push_back(pid);
        }
    }
    ~Orphans() {
        for (const auto pid : pids_) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
    }
    Orphans(const Orphans&) = delete;
    Orphans& operator=(const Orphans&) = delete;
    pid_t operator[](std::size_t place) const { return pids_[place]; }

  private:
    std::vector<pid_t> pids_;
};

TEST(OrphanLines, NameWhatWasLeftButNotTheCommandAndTheRenewer) {
    const Orphans all(3);
    const auto lines = orphan_lines({.command = all[0], .renewer = all[1]});
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_THAT(lines[0], HasSubstr(fmt::format("left running, not recorded: {} ", all[2])));
}

TEST(OrphanLines, MoreThanAFewAreCounted) {
    const Orphans all(leftover_lines_max + 3);
    const auto lines = orphan_lines({.should_stop = true});
    ASSERT_THAT(lines, SizeIs(leftover_lines_max + 1));
    EXPECT_EQ(lines.back(), "3 more were left, not stopped");
}

TEST(OrphanLines, AmongOthersChildrenNobodyCanTell) {
    const auto lines = orphan_lines({.had_children = true});
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_THAT(lines[0], HasSubstr("was not looked for"));
}

}  // namespace
}  // namespace knell::cli
