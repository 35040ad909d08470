#include "platform/small_file.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

class RegularFile : public ::testing::Test {
  protected:
    ErrorCode refusal() const {
        const auto text = read_regular_file(path_, 10'000);
        EXPECT_FALSE(text);
        return text ? ErrorCode::internal : text.error().code;
    }

    const testing::TempFolder temp_;
    const std::string root_ = temp_.path();
    std::string path_ = root_ + "/file";
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
