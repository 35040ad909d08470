#include "platform/small_file.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell {
namespace {

class RegularFile : public testing::Test {
  protected:
    RegularFile() {
        std::string name = testing::TempDir() + "knell-file-XXXXXX";
        root_ = ::mkdtemp(name.data());
        path_ = root_ + "/file";
    }
    ~RegularFile() override { std::filesystem::remove_all(root_); }

    ErrorCode refusal() const {
        const auto text = read_regular_file(path_, 10'000);
        EXPECT_FALSE(text);
        return text ? ErrorCode::internal : text.error().code;
    }

    std::string root_;
    std::string path_;
};

TEST_F(RegularFile, IsReadWholeUpToItsBound) {
    const std::string text(10'000, 'x');
    std::ofstream(path_) << text;

    EXPECT_EQ(read_regular_file(path_, 10'000).value_or(""), text);
    EXPECT_EQ(read_regular_file(path_, 9'999).error().code, ErrorCode::limit);
}

TEST_F(RegularFile, MayBeMissing) {
    EXPECT_EQ(refusal(), ErrorCode::not_found);
}

TEST_F(RegularFile, APipeOrADirectoryIsNone) {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_EQ(refusal(), ErrorCode::storage);
    path_ = root_;
    EXPECT_EQ(refusal(), ErrorCode::storage);
}

}  // namespace
}  // namespace knell
