#include "base/release.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(Release, GivesTheMemoryBack) {
    std::string text(1U << 20U, 'x');
    release(text);
    EXPECT_EQ(text, "");
    EXPECT_LT(text.capacity(), 100U);

    std::vector<int> numbers(1000);
    release(numbers);
    EXPECT_EQ(numbers.capacity(), 0U);
}

}  // namespace
}  // namespace knell
