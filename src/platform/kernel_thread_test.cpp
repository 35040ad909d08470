#include "platform/kernel_thread.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "platform/small_file.hpp"

namespace knell {
namespace {

TEST(KernelThread, IsToldByItsFlag) {
    EXPECT_TRUE(is_kernel_thread("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0"));
    EXPECT_TRUE(is_kernel_thread("9 (a) R 1 (x) S 2 0 0 0 -1 69238880 0 0")) << "an odd name";
    EXPECT_FALSE(is_kernel_thread("7 (sh) S 1 7 7 34816 7 4194304 0 0 0 0 0 0"));
    EXPECT_FALSE(is_kernel_thread("7 (sh) S 2 7 7 34816 7 4194560 0 0 2129984")) << "another field";
    for (const auto* cut : {"", "7", "7 (sh", "7 (sh)", "7 (sh) ", "7 (sh) S 1 7"}) {
        EXPECT_FALSE(is_kernel_thread(cut)) << cut;
    }
}

TEST(KernelThread, IsNotWhatRunsHere) {
    const auto stat = read_small_file("/proc/self/stat");
    ASSERT_TRUE(stat);
    EXPECT_FALSE(is_kernel_thread(*stat));
}

}  // namespace
}  // namespace knell
