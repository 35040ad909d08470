// Where the kernel grants no watch: when it is looked instead.  What the kernel tells is in
// platform/folder_watch_test.

#include "daemon/subscriber_files.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

int refuse() {
    errno = EMFILE;
    return -1;
}

class SubscriberFilesTest : public ::testing::Test {
  protected:
    SubscriberFilesTest() {
        std::filesystem::create_directories(temp_.path() + "/hooks/ops");
        ::testing::internal::CaptureStderr();
        files_.watch();
        log_ = ::testing::internal::GetCapturedStderr();
    }

    static Paths paths_in(const std::string& folder) {
        Paths paths;
        paths.config_file = folder + "/config.yaml";
        paths.hooks_dir = folder + "/hooks";
        return paths;
    }
    void write(const std::string& name) const { std::ofstream(temp_.path() + "/" + name) << "x"; }
    bool has_changed(std::chrono::milliseconds at) {
        return files_.take_change(SteadyTime{1h} + at, /*is_asked=*/false);
    }

    const testing::TempFolder temp_;
    SubscriberFiles files_{paths_in(temp_.path()), refuse};
    std::string log_;
};

TEST_F(SubscriberFilesTest, SaysWhyChangesAreNoticedLate) {
    EXPECT_NE(files_.trouble(), "");
    EXPECT_THAT(log_, ::testing::HasSubstr("are looked for every 3 s: " + files_.trouble()));
    EXPECT_EQ(files_.descriptor(), -1);
}

TEST_F(SubscriberFilesTest, IsLookedEveryThreeSeconds) {
    EXPECT_FALSE(has_changed(0s));
    EXPECT_EQ(files_.next_look(), SteadyTime{1h} + 3s);
    write("config.yaml");
    EXPECT_FALSE(has_changed(2999ms)) << "too early";
    EXPECT_TRUE(has_changed(3s));
    EXPECT_FALSE(has_changed(6s)) << "each change is told once";
}

TEST_F(SubscriberFilesTest, IsLookedAtOnceWhereSomebodyAsks) {
    EXPECT_FALSE(has_changed(0s));
    write("hooks/ops/run");
    EXPECT_FALSE(has_changed(1s));
    EXPECT_TRUE(files_.take_change(SteadyTime{1h} + 1s, /*is_asked=*/true));
    EXPECT_EQ(files_.next_look(), SteadyTime{1h} + 4s);
}

}  // namespace
}  // namespace knell
