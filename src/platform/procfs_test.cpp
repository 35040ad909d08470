#include "platform/procfs.hpp"

#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

TEST(Procfs, ThatIsMountedWillDo) {
    EXPECT_TRUE(check_procfs());
}

TEST(Procfs, ThatIsNotMountedIsNamedWithWhatToType) {
    const testing::TempFolder folder;
    for (const auto& proc : {folder.path(), folder.path() + "/missing"}) {
        const auto checked = check_procfs(proc);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().message,
                  proc +
                      " is not mounted: knell needs it to tell which processes live; mount it "
                      "with: mkdir -p " +
                      proc + " && mount -t proc proc " + proc);
    }
}

}  // namespace
}  // namespace knell
