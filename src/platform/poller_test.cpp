// A wait that does not end as it should would last for a day: the test would hang.

#include "platform/poller.hpp"

#include <array>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "testing/pipe.hpp"
#include "testing/refused_calls.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::Pipe;

constexpr SteadyTime now{1h};
constexpr auto tomorrow = now + 24h;

TEST(Awaited, TheEarliestTimeCounts) {
    Awaited awaited;
    awaited.no_later_than(std::nullopt);
    EXPECT_FALSE(awaited.until);
    awaited.no_later_than(now + 2s);
    awaited.no_later_than(now + 1s);
    awaited.no_later_than(now + 3s);
    awaited.no_later_than(std::nullopt);
    EXPECT_EQ(awaited.until, now + 1s);
}

TEST(Poller, WaitsUntilItIsTime) {
    Poller poller;
    const Pipe pipe;
    poller.wait({.descriptors = {pipe.readable()}, .until = now}, now);
    poller.wait({.descriptors = {}, .until = now - 24h}, now);
    poller.wait({.descriptors = {}, .until = now + 1ns}, now);
}

TEST(Poller, WaitsForOneOfTheDescriptors) {
    Poller poller;
    const Pipe quiet;
    Pipe pipe;
    const pollfd none{.fd = -1, .events = POLLIN, .revents = 0};
    const Awaited awaited{.descriptors = {none, quiet.readable(), pipe.readable()},
                          .until = tomorrow};
    ASSERT_EQ(::write(pipe.writer.get(), "x", 1), 1);
    poller.wait(awaited, now);

    char byte = 0;
    ASSERT_EQ(::read(pipe.reader.get(), &byte, 1), 1);
    pipe.writer.reset();
    poller.wait(awaited, now);  // a hang-up
}

TEST(Poller, IsWokenFromAnotherThread) {
    Poller poller;
    std::thread other([&] { poller.wake(); });
    poller.wait({}, now);
    other.join();
}

TEST(Poller, OneWakeUpEndsOneWait) {
    Poller poller;
    poller.wake();
    poller.wake();
    poller.wait({}, now);

    const Pipe pipe;
    std::thread other([&] { EXPECT_EQ(::write(pipe.writer.get(), "x", 1), 1); });
    poller.wait({.descriptors = {pipe.readable()}, .until = std::nullopt}, now);
    auto look = pipe.readable();
    EXPECT_EQ(::poll(&look, 1, 0), 1) << "it was woken again";
    other.join();
}

TEST(Poller, AWaitThatIsRefusedIsOver) {
    Poller poller;
    testing::with_refused_calls({SYS_poll}, ENOMEM, [&] { poller.wait({}, now); });
}

TEST(LookNow, SaysWhichAreReady) {
    const Pipe quiet;
    Pipe written;
    Pipe closed;
    ASSERT_EQ(::write(written.writer.get(), "x", 1), 1);
    closed.writer.reset();
    std::array all{quiet.readable(), written.readable(), closed.readable(), pollfd{-1, POLLIN, 0}};
    look_now(all);
    EXPECT_EQ(all[0].revents, 0);
    EXPECT_EQ(all[1].revents, POLLIN);
    EXPECT_EQ(all[2].revents, POLLHUP);
    EXPECT_EQ(all[3].revents, 0);
}

TEST(LookNow, AllAreWhereTheKernelDoesNotSay) {
    const Pipe quiet;
    std::array all{quiet.readable(), quiet.readable()};
    testing::with_refused_calls({SYS_poll}, ENOMEM, [&] { look_now(all); });
    for (const auto& one : all) EXPECT_NE(one.revents, 0);
}

}  // namespace
}  // namespace knell
