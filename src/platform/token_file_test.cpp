#include "platform/token_file.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::HasSubstr;

class TokenFile : public ::testing::Test {
  protected:
    void write(std::string_view text, mode_t mode = 0600) const {
        std::ofstream(path_) << text;
        ::chmod(path_.c_str(), mode);
    }
    std::string complaint() const {
        const auto token = read_token(path_);
        return token ? "" : token.error().message;
    }

    const testing::TempFolder temp_;
    const std::string path_ = temp_.path() + "/token";
};

TEST_F(TokenFile, IsMadeOnceForUsAlone) {
    EXPECT_EQ(read_token(path_).error().code, ErrorCode::not_found);

    const auto made = read_or_make_token(path_);

    ASSERT_TRUE(made);
    EXPECT_EQ(made->size(), 64U);
    struct stat found{};
    ASSERT_EQ(::stat(path_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    EXPECT_EQ(read_or_make_token(path_), *made);
    EXPECT_EQ(read_token(path_), *made);
    EXPECT_NE(read_or_make_token(temp_.path() + "/token.read"), *made);
}

TEST_F(TokenFile, ThatOthersCanReadIsNotUsed) {
    for (const mode_t mode : {0640U, 0604U, 0660U, 0601U}) {
        write(std::string(64, 'a'), mode);
        EXPECT_THAT(complaint(), HasSubstr("knell token rotate")) << mode;
        EXPECT_EQ(read_or_make_token(path_).error().code, ErrorCode::unauthorized);
    }
    const auto rotated = rotate_token(path_);
    ASSERT_TRUE(rotated);
    EXPECT_EQ(read_token(path_), *rotated);
}

TEST_F(TokenFile, MayBeWrittenByAPerson) {
    write(std::string(40, 'x') + " \r\n");
    EXPECT_EQ(read_token(path_), std::string(40, 'x'));
}

TEST_F(TokenFile, ThatHoldsNoTokenIsRefusedWithoutBeingQuoted) {
    for (const auto& text : {std::string{}, std::string("short"), std::string(300, 'q'),
                             std::string(32, 'q') + " " + std::string(32, 'q')}) {
        write(text);
        EXPECT_THAT(complaint(), HasSubstr("must hold one line of 32 to 256"));
        EXPECT_FALSE(complaint().contains("qq"));
    }
    std::filesystem::remove(path_);
    std::filesystem::create_directory(path_);
    EXPECT_THAT(complaint(), HasSubstr("is not an ordinary file"));
    EXPECT_FALSE(rotate_token(path_)) << "a directory is left as it is";
    EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
    std::filesystem::remove(path_);
    std::filesystem::create_symlink("elsewhere", path_);
    EXPECT_THAT(complaint(), HasSubstr("cannot read the token file"));
}

TEST_F(TokenFile, RotatesWhateverWasLeftOfTheLastTime) {
    const auto first = read_or_make_token(path_);
    std::ofstream(path_ + ".new") << "half";

    const auto second = rotate_token(path_);

    ASSERT_TRUE(second);
    EXPECT_NE(*second, *first);
    EXPECT_EQ(read_token(path_), *second);
    EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(TokenFile, SaysWhatTheSystemDenies) {
    const auto nowhere = std::string("/proc/none/token");
    EXPECT_FALSE(read_or_make_token(nowhere));
    EXPECT_FALSE(rotate_token(nowhere));
    write(std::string(64, 'a'));
    testing::with_refused_calls({SYS_read}, EIO, [this] {
        EXPECT_THAT(complaint(), HasSubstr("cannot read the token file"));
    });
    testing::with_refused_calls({SYS_fstat, SYS_newfstatat}, EIO, [this] {
        EXPECT_THAT(complaint(), HasSubstr("cannot read the token file"));
    });
}

TEST(TokenPath, IsInTheHome) {
    Paths paths;
    paths.state_dir = "/home/ann/knell";
    EXPECT_EQ(token_path(paths, TokenKind::full), "/home/ann/knell/token");
    EXPECT_EQ(token_path(paths, TokenKind::read_only), "/home/ann/knell/token.read");
}

}  // namespace
}  // namespace knell
