#include "watch/timed_tree.hpp"

#include <cerrno>
#include <latch>
#include <memory>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "testing/fake_tree.hpp"
#include "testing/refused_calls.hpp"

namespace knell {
namespace {

/// What this thread has worked so far.
std::chrono::microseconds work_done() {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// Process 13 cannot be read until the test says so.  To read process 7 takes longer than reads are
/// waited for, and is work all the time.
class StuckTree final : public testing::FakeTree {
  public:
    std::optional<std::string> environment(pid_t pid) const override {
        if (pid == 13) free.wait();
        const auto enough = work_done() + 2 * TimedTree::read_max;
        while (pid == 7 && work_done() < enough) {
        }
        return FakeTree::environment(pid);
    }
    mutable std::latch free{1};
};

class Timed : public ::testing::Test {
  protected:
    Timed() {
        tree_->processes[1].environment = "A=1";
        tree_->processes[7].environment = "A=7";
        tree_->processes[13].environment = "A=13";
    }
    ~Timed() override {
        if (!tree_->free.try_wait()) tree_->free.count_down();
    }
    const std::shared_ptr<StuckTree> tree_ = std::make_shared<StuckTree>();
    const TimedTree timed_{tree_};
};

TEST_F(Timed, ReadsWhatCanBeRead) {
    EXPECT_EQ(timed_.environment(1), "A=1");
    EXPECT_EQ(timed_.command_line(1), "sleep 9");
    EXPECT_FALSE(timed_.is_knell(1));
    EXPECT_TRUE(timed_.is_same_file("/a", "/a"));
    EXPECT_FALSE(timed_.is_same_file("/a", "/b"));
}

TEST_F(Timed, AProcessThatCannotBeReadHoldsNobodyUp) {
    EXPECT_EQ(timed_.environment(13), std::nullopt);
    EXPECT_EQ(timed_.environment(1), "A=1") << "the others can be read all the same";
}

TEST_F(Timed, AReaderThatRunsOrWaitsForItsTurnToIsNotTakenForStuck) {
    EXPECT_EQ(timed_.environment(7), "A=7");
}

TEST_F(Timed, WithoutAThreadNothingCanBeReadAndEverythingIsSpared) {
    testing::with_refused_calls({SYS_clone, SYS_clone3}, EAGAIN, [&] {
        EXPECT_EQ(timed_.environment(1), std::nullopt);
        EXPECT_EQ(timed_.command_line(1), "");
        EXPECT_TRUE(timed_.is_knell(1));
    });
    EXPECT_EQ(timed_.environment(1), "A=1") << "there may be one the next time";
}

TEST_F(Timed, GivesUpReadingWhenTooManyAreStuckAndGoesOnOnceTheyAreBack) {
    for (std::size_t i = 0; i < TimedTree::stuck_max; ++i) {
        EXPECT_EQ(timed_.environment(13), std::nullopt);
    }
    EXPECT_EQ(timed_.environment(1), std::nullopt);
    EXPECT_TRUE(timed_.is_knell(1)) << "what cannot be looked at is spared";
    EXPECT_FALSE(timed_.is_same_file("/a", "/b"));

    tree_->free.count_down();

    while (timed_.environment(1) != "A=1") {
    }
    EXPECT_EQ(timed_.environment(13), "A=13");
}

}  // namespace
}  // namespace knell
