// A command that becomes another user, on a system that shows nobody the processes of others.

#include <filesystem>

#include <gmock/gmock.h>
#include <unistd.h>

#include "functional/harness/process.hpp"
#include "functional/harness/temp_home.hpp"
#include "testing/temp_folder.hpp"

namespace knell::functional {
namespace {

using ::testing::HasSubstr;

constexpr auto hide_others = "mount --make-rprivate / && mount -t proc -o hidepid=2 proc /proc";

TEST(HiddenCommand, IsKnownByWhatItsKnellRunSaw) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root for a setuid program and a mount";
    const knell::testing::TempFolder folder;
    namespace fs = std::filesystem;
    fs::permissions(folder.path(), fs::perms::all);
    const auto program = folder.path() + "/false";
    fs::copy_file("/bin/false", program);
    fs::permissions(program, fs::perms::set_uid, fs::perm_options::add);
    fs::copy_file(knell_binary(), folder.path() + "/knell");

    Spawn may;
    may.argv = {"unshare", "--mount", "sh", "-c", hide_others};
    if (run_command(may).status != 0) GTEST_SKIP() << "needs the right to mount /proc again";

    Spawn spawn;
    spawn.argv = {"unshare", "--mount", "sh", "-c",
                  std::string(hide_others) +
                      " && exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '"
                      "knell up --detach && knell run --id s -- ./false; knell why s; knell down'"};
    spawn.environment = {{"PATH", folder.path() + ":/usr/bin:/bin:/usr/sbin:/sbin"},
                         {"KNELL_HOME", folder.path() + "/home"}};
    spawn.cwd = folder.path();
    const auto outcome = run_command(spawn);

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("exited (observed): exit 1")) << outcome.err;
}

}  // namespace
}  // namespace knell::functional
