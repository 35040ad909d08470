// Where /proc is not mounted: a chroot, a bare container.  Nothing can be told of any process
// there, and that is what is said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "functional/harness/process.hpp"
#include "functional/harness/temp_home.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

/// Runs it in a mount namespace with an empty directory in the place of /proc.
Spawn without_proc(Spawn spawn) {
    std::vector<std::string> argv{
        "unshare", "--mount", "--", "sh", "-c", R"(mount -t tmpfs none /proc && exec "$@")", "sh"};
    argv.insert(argv.end(), spawn.argv.begin(), spawn.argv.end());
    spawn.argv = std::move(argv);
    return spawn;
}

class WithoutProc : public testing::Test {
  protected:
    void SetUp() override {
        Spawn spawn;
        spawn.argv = {"true"};
        if (run_command(without_proc(spawn)).status != 0) {
            GTEST_SKIP() << "needs the right to make a mount namespace (unshare --mount)";
        }
    }
    Outcome knell(const std::vector<std::string>& arguments) const {
        return run_command(without_proc(home.command(arguments)));
    }

    const TempHome home;
};

TEST_F(WithoutProc, ADaemonSaysSoAndLeavesNothingBehind) {
    for (const auto& arguments :
         {std::vector<std::string>{"up"}, std::vector<std::string>{"up", "--detach"}}) {
        const auto outcome = knell(arguments);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_THAT(outcome.err, HasSubstr("/proc is not mounted"));
        EXPECT_THAT(outcome.err, HasSubstr("mount -t proc proc /proc"));
    }
    EXPECT_EQ(::access(home.file("knell.db").c_str(), F_OK), -1);
}

TEST_F(WithoutProc, ARunSaysSoAndRunsItsCommand) {
    const auto outcome = knell({"run", "--", "echo", "hello"});

    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, "hello\n");
    EXPECT_THAT(outcome.err, HasSubstr("/proc is not mounted"));
    EXPECT_THAT(outcome.err, HasSubstr("its record waits in"));
}

}  // namespace
}  // namespace knell::functional
