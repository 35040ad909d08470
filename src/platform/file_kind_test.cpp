#include "platform/file_kind.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::HasSubstr;

TEST(WhyNoFile, NamesWhatStandsThere) {
    const testing::TempFolder folder;
    const auto at = [&](const char* name) { return folder.path() + "/" + name; };
    std::ofstream(at("file")) << "x";
    std::filesystem::create_directory(at("directory"));
    std::filesystem::create_symlink("nowhere", at("link"));
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);

    EXPECT_EQ(why_no_file(at("file")), "");
    EXPECT_EQ(why_no_file(at("nothing")), "");
    EXPECT_EQ(why_no_file(at("directory")), "it is a directory; move it away");
    EXPECT_EQ(why_no_file(at("pipe")), "it is a named pipe; move it away");
    EXPECT_THAT(why_no_file(at("link")), HasSubstr("it is a symbolic link"));
    EXPECT_EQ(why_no_file("/dev/null"), "it is a device; move it away");
}

}  // namespace
}  // namespace knell
