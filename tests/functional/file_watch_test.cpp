// A system that grants no inotify instance any more: changed files are noticed a little later.

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "functional/harness/hooks.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto inside = "KNELL_TEST_INSIDE";
constexpr auto instances_max = "/proc/sys/user/max_inotify_instances";

/// True in the copy of this test that runs in a user namespace without inotify; elsewhere it has
/// run that copy.
bool is_inside() {
    if (std::getenv(inside) != nullptr) return true;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    Spawn spawn;
    spawn.argv = {"unshare",
                  "--user",
                  "--map-root-user",
                  "sh",
                  "-c",
                  fmt::format("echo 0 > {} || exit 77; exec \"$@\"", instances_max),
                  "sh",
                  std::filesystem::read_symlink("/proc/self/exe").string(),
                  fmt::format("--gtest_filter={}.{}", test->test_suite_name(), test->name())};
    spawn.environment = {{inside, "1"}, {"KNELL_BIN", knell_binary()}};
    const auto outcome = run_command(spawn);
    if (outcome.status == 77 || outcome.err.contains("unshare")) {
        // GTEST_SKIP returns from its function only.
        [] { GTEST_SKIP() << "needs root to make a user namespace without inotify"; }();
    } else {
        EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        EXPECT_THAT(outcome.out, HasSubstr("[  PASSED  ] 1 test"));
    }
    return false;
}

class FileWatch : public WithHooks {
  protected:
    /// As the daemon has it without being asked: an answer makes it look.
    void wait_for_line(std::string_view line) { daemon.wait_for_log(line); }
};

TEST_F(FileWatch, WithoutInotifyHooksAndConfigAreStillNoticedAndItIsSaid) {
    if (!is_inside()) return;
    wait_for_line("changes of config.yaml and hooks are looked for every 3 s");
    EXPECT_THAT(text(client.must("node.status"), "file_watch.why"), HasSubstr("inotify"));
    EXPECT_THAT(home.knell({"status"}).out, HasSubstr("looked for every few seconds"));

    // The daemon says itself what it has read; nobody asks it.
    write_hook(home, "bad", "true", "\"session:end\"", "timeout: soon");
    wait_for_line("bad/HOOK.yaml:3");
    write_file(home.file("config.yaml"), "nonsense: 1\n");
    wait_for_line("config.yaml:1");

    add_listener("ops", "\"session:end\"");
    live_and_die("a");
    wait_until_heard("ops", "a_1_end");

    // There are instances again: it takes one without being told.
    write_file(instances_max, "16\n");
    wait_for_line("are noticed at once again");
    EXPECT_TRUE(at(client.must("node.status"), "file_watch").is_null());
    EXPECT_THAT(home.knell({"status"}).out, Not(HasSubstr("looked for every few seconds")));
}

}  // namespace
}  // namespace knell::functional
