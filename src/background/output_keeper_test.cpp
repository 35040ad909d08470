#include "background/output_keeper.hpp"

#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kept = 64 << 10;

class Keeper : public ::testing::TestWithParam<OutputKeeper::Ask> {
  protected:
    void SetUp() override { keeper.set_bytes_max(kept); }

    Fd start(const ProcessId& id) {
        auto file = files->create(id);
        if (!file) throw std::runtime_error(file.error().message);
        keeper.add(id, now);
        return std::move(*file);
    }
    static void write_to(const Fd& file, std::int64_t size) {
        const std::string text(static_cast<std::size_t>(size), 'x');
        ASSERT_EQ(::write(file.get(), text.data(), text.size()), size);
    }
    std::int64_t bytes_of(const ProcessId& id) {
        struct stat found{};
        if (::stat((files->folder() + "/" + id.text() + ".out").c_str(), &found) != 0) return -1;
        return found.st_blocks * 512;
    }
    bool is_told() {
        pollfd look{.fd = keeper.descriptor(now), .events = POLLIN, .revents = 0};
        return look.fd >= 0 && ::poll(&look, 1, 0) > 0;
    }
    /// As the thread around it does: steps when there is a reason for one, until `end`.
    int run_until(SteadyTime end) {
        int steps = 0;
        for (;;) {
            if (!is_told()) {
                const auto next = keeper.next_step();
                if (!next || *next > end) break;
                now = std::max(now, *next);
            }
            keeper.step(now);
            ++steps;
        }
        now = end;
        return steps;
    }

    testing::TempFolder home;
    std::unique_ptr<OutputFiles> files = *OutputFiles::open(home.path() + "/out");
    OutputKeeper keeper{*files, 30min, GetParam()};
    SteadyTime now{1h};
    const ProcessId one = ProcessId::from_bits(1);
    const ProcessId two = ProcessId::from_bits(2);
};

TEST_P(Keeper, AFloodIsCutWithinAMoment) {
    const auto file = start(one);
    run_until(now + 10s);
    write_to(file, 10 * kept);
    run_until(now + 1s);
    EXPECT_LE(bytes_of(one), 2 * kept) << "after a long silence";
    for (int i = 1; i < 100; ++i) {
        write_to(file, 5 * kept);
        run_until(now + 20ms);
        if (i > 50) {
            EXPECT_LE(bytes_of(one), 12 * kept) << "not more than of two looks";
        }
    }
    EXPECT_EQ(files->trim(one, kept)->end, 505 * kept) << "no place has moved";
}

TEST_P(Keeper, OneThatIsWrittenToWithoutEndDoesNotKeepUsBusy) {
    const auto file = start(one);
    int steps = 0;
    for (int i = 0; i < 1000; ++i) {
        write_to(file, 100);
        steps += run_until(now + 1ms);
    }
    EXPECT_LE(steps, 110) << "two for each 20 ms";
}

TEST_P(Keeper, QuietOnesCostAlmostNothing) {
    const auto file = start(one);
    run_until(now + 10s);
    EXPECT_LE(run_until(now + 60s), 62);
}

TEST_P(Keeper, AnOutputGoesSomeTimeAfterItsProcess) {
    start(one);
    start(two);
    keeper.ended(one, now, now);
    keeper.ended(one, now + 20min, now + 20min);  // said twice
    run_until(now + 29min);
    EXPECT_GE(bytes_of(one), 0);
    run_until(now + 2min);
    EXPECT_EQ(bytes_of(one), -1);
    EXPECT_GE(bytes_of(two), 0) << "its process runs";
    EXPECT_EQ(keeper.count(), 1U);
}

TEST_P(Keeper, WhatStillWritesKeepsItsOutputAndItsBound) {
    auto file = start(one);
    keeper.ended(one, now, now);
    run_until(now + 40min);
    write_to(file, 20 * kept);
    run_until(now + 2s);
    EXPECT_LE(bytes_of(one), 2 * kept);
    EXPECT_GT(bytes_of(one), 0);
    file.reset();
    run_until(now + 2min);
    EXPECT_EQ(bytes_of(one), -1);
}

TEST_P(Keeper, OneThatEndedBeforeUsGoesInItsTime) {
    ASSERT_TRUE(files->create(one));
    keeper.ended(one, now - 29min, now);
    keeper.ended(two, now - 29min, now);
    EXPECT_EQ(keeper.count(), 1U) << "the other has none";
    run_until(now + 2min);
    EXPECT_EQ(bytes_of(one), -1);
    EXPECT_FALSE(keeper.next_step());
}

TEST_P(Keeper, OfManyThatEndedTheOldestGoFirst) {
    const auto count = OutputKeeper::ended_max + 10;
    for (std::size_t i = 0; i < count; ++i) {
        const auto id = ProcessId::from_bits(i);
        start(id);
        keeper.ended(id, now + std::chrono::milliseconds(i), now);
    }
    run_until(now + 2s);
    EXPECT_EQ(keeper.count(), OutputKeeper::ended_max);
    EXPECT_EQ(bytes_of(ProcessId::from_bits(9)), -1);
    EXPECT_GE(bytes_of(ProcessId::from_bits(10)), 0);
}

TEST_P(Keeper, OneThatSomebodyRemovedIsNoTrouble) {
    start(one);
    files->remove(one);
    EXPECT_LE(run_until(now + 10s), 30);
    keeper.ended(one, now, now);
    run_until(now + 31min);
    EXPECT_EQ(keeper.count(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Told, Keeper, ::testing::Values(OutputKeeper::ask_system));
INSTANTIATE_TEST_SUITE_P(Looking, Keeper, ::testing::Values(OutputKeeper::Ask{[] { return -1; }}));

}  // namespace
}  // namespace knell
