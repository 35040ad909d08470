#include "cli/new_hook.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(NewHook, HasAManifestAndAProgramThatOnlyWeMayChange) {
    const testing::TempFolder home;

    const auto made = make_new_hook(home.path() + "/hooks", "ops");

    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(*made, home.path() + "/hooks/ops");
    EXPECT_EQ(fs::status(*made + "/run").permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(*made + "/HOOK.yaml").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST(NewHook, LeavesWhatIsThereAsItIs) {
    const testing::TempFolder home;
    fs::create_directories(home.path() + "/hooks/ops");

    const auto made = make_new_hook(home.path() + "/hooks", "ops");

    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::blocked);
    EXPECT_TRUE(fs::is_empty(home.path() + "/hooks/ops"));
}

TEST(NewHook, TakesNoNameThatIsAPath) {
    const testing::TempFolder home;

    EXPECT_FALSE(make_new_hook(home.path(), "../ops"));
    EXPECT_FALSE(make_new_hook(home.path(), ""));
}

TEST(NewHook, NamesItselfAndAsksForAnEvent) {
    EXPECT_THAT(new_hook_manifest("ops"), HasSubstr("\nevents: [session:end]\n"));
    EXPECT_THAT(new_hook_script("ops"), HasSubstr("knell hooks runs ops"));
    EXPECT_THAT(new_hook_script("ops"),
                HasSubstr("${KNELL_SESSION_ID:-} ended: ${KNELL_REASON:-}"));
}

}  // namespace
}  // namespace knell::cli
