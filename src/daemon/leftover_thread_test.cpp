#include "daemon/leftover_thread.hpp"

#include <latch>

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "testing/fake_tree.hpp"

namespace knell {
namespace {

TEST(LeftoverThread, AFullQueueLeavesTheAnswerToItsCaller) {
    const testing::FakeTree tree;
    LiveOwners owners;
    std::latch busy{1};
    std::latch free{1};
    LeftoverThread thread(tree, {"", owners, [](auto&&...) { return false; }},
                          {[](auto&&) {}, [](auto&&) {}});
    LeftoverThread::Found first = [&](auto&&...) {
        busy.count_down();
        free.wait();
    };
    ASSERT_TRUE(thread.search({}, std::move(first)));
    busy.wait();
    for (std::size_t taken = 0;; ++taken) {
        ASSERT_LE(taken, limits::queue_reads_max);
        LeftoverThread::Found found = [](auto&&...) {};
        if (thread.search({}, std::move(found))) continue;
        EXPECT_TRUE(found) << "whoever asked could not be told";
        break;
    }
    free.count_down();
    thread.stop();
}

}  // namespace
}  // namespace knell
