#include "platform/file_trust.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "platform/private_group.hpp"
#include "platform/small_file.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

class FileTrust : public ::testing::Test {
  protected:
    FileTrust() {
        std::filesystem::create_directories(folder_);
        std::ofstream(path_) << "text";
        allow(path_, 0644);
    }

    static void allow(const std::string& path, mode_t mode) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    }
    /// Why not, or "".
    static std::string objection(const std::string& path) {
        const auto checked = check_only_ours(path);
        if (checked) return {};
        EXPECT_EQ(checked.error().code, ErrorCode::unauthorized) << checked.error().message;
        return checked.error().message;
    }

    const testing::TempFolder temp_;
    const std::string root_ = std::filesystem::canonical(temp_.path()).string();
    const std::string folder_ = root_ + "/folder";
    const std::string path_ = folder_ + "/file";
};

TEST_F(FileTrust, OursAndRootsCanBeTrusted) {
    EXPECT_EQ(objection(path_), "");
    EXPECT_EQ(objection("/bin/sh"), "") << "through a link";
    EXPECT_EQ(objection("/"), "");
}

TEST_F(FileTrust, WhatAnybodyCanWriteCannot) {
    allow(path_, 0646);
    EXPECT_EQ(objection(path_), "anybody could change it: chmod o-w " + path_);
    std::filesystem::create_symlink(path_, root_ + "/link");
    EXPECT_EQ(objection(root_ + "/link"), objection(path_));
}

TEST_F(FileTrust, NorCanWhatLiesWhereAnybodyCanPutSomethingElse) {
    allow(folder_, 0777);
    const auto expected =
        "anybody could change " + folder_ + ", which it is in: chmod o-w " + folder_;
    EXPECT_EQ(objection(path_), expected);
    std::filesystem::create_symlink(path_, root_ + "/link");
    EXPECT_EQ(objection(root_ + "/link"), expected) << "wherever a link to it is";
    EXPECT_EQ(objection(folder_ + "/../folder/file"), expected);
}

TEST_F(FileTrust, NorWhatALinkIsToThatLiesThere) {
    const auto shared = root_ + "/shared";
    std::filesystem::create_directories(shared);
    std::filesystem::create_symlink(path_, shared + "/link");
    allow(shared, 0777);
    EXPECT_EQ(objection(shared + "/link"),
              "anybody could change " + shared + ", which it is in: chmod o-w " + shared);
}

TEST_F(FileTrust, AStickyFolderIsASafeWayToWhatIsOursButNotSafeItself) {
    allow(folder_, 01777);
    EXPECT_EQ(objection(path_), "");
    EXPECT_EQ(objection(folder_), "anybody could change it: chmod o-w " + folder_);
    if (::chown(path_.c_str(), 65'534, 65'534) != 0)
        GTEST_SKIP() << "only root can give files away";
    EXPECT_NE(objection(path_), "");
}

TEST_F(FileTrust, ALinkOfSomebodyElseInAStickyFolderIsNotFollowed) {
    allow(folder_, 01777);
    const auto link = folder_ + "/link";
    std::filesystem::create_symlink("/bin/sh", link);
    EXPECT_EQ(objection(link), "");
    if (::lchown(link.c_str(), 65'534, 65'534) != 0)
        GTEST_SKIP() << "only root can give files away";
    EXPECT_NE(objection(link).find("user 65534 could change the link"), std::string::npos);
}

TEST_F(FileTrust, NorCanWhatAGroupOfOthersCanWrite) {
    constexpr gid_t of_others = 54'321;
    if (::chown(path_.c_str(), static_cast<uid_t>(-1), of_others) != 0 ||
        ::chown(folder_.c_str(), static_cast<uid_t>(-1), of_others) != 0)
        GTEST_SKIP() << "only root can give files to any group";
    EXPECT_EQ(objection(path_), "") << "it may read";
    allow(path_, 0664);
    EXPECT_EQ(objection(path_), "group 54321 could change it: chmod g-w " + path_);
    allow(path_, 0644);
    allow(folder_, 0775);
    EXPECT_EQ(objection(path_),
              "group 54321 could change " + folder_ + ", which it is in: chmod g-w " + folder_);
}

TEST_F(FileTrust, TheOwnersOwnGroupMayWrite) {
    if (!is_private_group(::geteuid(), ::getegid()))
        GTEST_SKIP() << "this user shares its group with others";
    allow(path_, 0664);
    allow(folder_, 0775);
    EXPECT_EQ(objection(path_), "");
}

TEST_F(FileTrust, AnAccessListThatLetsOthersWriteIsNoticed) {
    // version 2; user::rw-, user:65534:rw-, group::r--, mask::rw-, other::r--
    constexpr std::string_view list(
        "\2\0\0\0"
        "\1\0\6\0\xff\xff\xff\xff"
        "\2\0\6\0\xfe\xff\0\0"
        "\4\0\4\0\xff\xff\xff\xff"
        "\x10\0\6\0\xff\xff\xff\xff"
        "\x20\0\4\0\xff\xff\xff\xff",
        44);
    if (::setxattr(path_.c_str(), "system.posix_acl_access", list.data(), list.size(), 0) != 0)
        GTEST_SKIP() << "no access lists on this file system";
    EXPECT_NE(objection(path_).find("an access list lets others change it"), std::string::npos);
}

TEST_F(FileTrust, NorCanWhatBelongsToSomebodyElse) {
    if (::chown(path_.c_str(), 65'534, 65'534) != 0)
        GTEST_SKIP() << "only root can give files away";
    EXPECT_EQ(objection(path_),
              "user 65534 could change it: chown " + std::to_string(::geteuid()) + " " + path_);
}

TEST_F(FileTrust, NorWhatIsNotThere) {
    EXPECT_EQ(check_only_ours(root_ + "/gone").error().code, ErrorCode::not_found);
    std::filesystem::create_symlink("loop", root_ + "/loop");
    EXPECT_FALSE(check_only_ours(root_ + "/loop"));
}

TEST_F(FileTrust, WhatWasOpenedIsHeldWhateverTakesItsName) {
    const auto opened = open_only_ours(path_);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->path, path_);
    EXPECT_EQ(opened->name, "file");
    std::filesystem::rename(path_, root_ + "/away");
    std::ofstream(path_) << "another";
    EXPECT_EQ(read_regular_file(opened->path_of_descriptor(), 100).value(), "text");
}

TEST_F(FileTrust, ASearchPathIsLeftWithItsSafeDirectories) {
    const auto shared = root_ + "/shared";
    std::filesystem::create_directories(shared);
    allow(shared, 0777);
    EXPECT_EQ(safe_search_path(shared + ":/usr/bin:.::bin:/no/such:/bin").value(), "/usr/bin:/bin");
    EXPECT_EQ(safe_search_path("").value(), "");
}

}  // namespace
}  // namespace knell
