// The watch thread on its own.  Processes are invented; each is held through a pipe, which can be
// read once it has "ended", as a pidfd can.

#include "watch/process_watch.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using How = WatchList::How;

// Long enough for any machine; nothing waits that long when all is well.
constexpr auto wait_max = 30s;

class InventedProcesses final : public ProcessTable {
  public:
    struct Process {
        Process() {
            std::array<int, 2> ends{};
            EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
            reading = Fd{ends[0]};
            writing = Fd{ends[1]};
        }
        Fd reading;
        Fd writing;
        bool is_there = true;
        bool is_readable = true;
        bool can_be_held = true;
        bool can_be_polled = true;  // epoll refuses a regular file
    };

    void set(pid_t pid, const std::function<void(Process&)>& change = [](Process&) {}) {
        const std::lock_guard lock(mutex_);
        change(processes_[pid]);
    }
    /// Only its descriptor tells.
    void signal_end(pid_t pid) {
        const std::lock_guard lock(mutex_);
        EXPECT_EQ(::write(processes_.at(pid).writing.get(), "x", 1), 1);
    }

    std::optional<ProcessIdentity> identify(pid_t) const override { return std::nullopt; }
    ProcessSnapshot look_at(pid_t pid) const override {
        const std::lock_guard lock(mutex_);
        const auto found = processes_.find(pid);
        if (found == processes_.end() || !found->second.is_there) return {.nobody = true};
        const auto& process = found->second;
        if (!process.is_readable) return {.why_unreadable = "no permission"};
        if (!process.can_be_held) return {.start_ticks = 7};
        // Opened anew each time, as pidfd_open does: epoll must forget it when it is closed.
        const auto path = process.can_be_polled
                              ? fmt::format("/proc/self/fd/{}", process.reading.get())
                              : "/proc/self/exe";
        return {.start_ticks = 7,
                .pidfd = Fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)}};
    }
    Departure exit_of(const ProcessSnapshot&, const ProcessIdentity&) const override { return {}; }
    const std::string& boot_id() const override { return boot_; }
    std::uint64_t own_pid_namespace() const override { return 1; }
    std::uint64_t pid_namespace_of(pid_t) const override { return 1; }
    Located locate(const NamedPid& named, pid_t) const override {
        return {.kind = Located::Kind::here, .pid = named.pid, .why = {}};
    }

  private:
    const std::string boot_ = "boot";
    mutable std::mutex mutex_;  // guards what follows
    std::map<pid_t, Process> processes_;
};

class WatchThread : public ::testing::Test {
  protected:
    static ProcessIdentity process(pid_t pid) { return {pid, 7, 1, "boot"}; }

    void begin(std::size_t held_max = 100) {
        const auto tell = [this](std::string_view what, const ProcessIdentity& whom) {
            const std::lock_guard lock(mutex_);
            told_.push_back(fmt::format("{} {}", what, whom.pid));
            happened_.notify_all();
        };
        watch_.emplace(table_, held_max,
                       WatchList::Tell{.gone =
                                           [this, tell](const auto& whom, const auto& departure) {
                                               {
                                                   const std::lock_guard lock(mutex_);
                                                   departures_[whom.pid] = departure;
                                               }
                                               tell("gone", whom);
                                           },
                                       .unknown = [tell](const auto& whom,
                                                         const auto&) { tell("unknown", whom); },
                                       .alive = [tell](const auto& whom) { tell("alive", whom); }});
    }
    bool wait_until_told(const std::string& what) {
        std::unique_lock lock(mutex_);
        return happened_.wait_for(lock, wait_max,
                                  [&] { return std::ranges::count(told_, what) > 0; });
    }
    /// All that was asked so far is done: one that is gone, asked about last, was told.
    void settle() {
        const auto pid = next_nobody_++;
        watch_->watch(process(pid));
        ASSERT_TRUE(wait_until_told(fmt::format("gone {}", pid)));
    }
    std::size_t told(std::string_view what) {
        const std::lock_guard lock(mutex_);
        return static_cast<std::size_t>(std::ranges::count(told_, what));
    }
    Departure departure(pid_t pid) {
        const std::lock_guard lock(mutex_);
        return departures_.at(pid);
    }

    InventedProcesses table_;
    pid_t next_nobody_ = 1'000'000;
    std::mutex mutex_;  // guards what follows, but for watch_
    std::condition_variable happened_;
    std::vector<std::string> told_;
    std::map<pid_t, Departure> departures_;
    std::optional<ProcessWatch> watch_;  // last: its thread uses all above
};

TEST_F(WatchThread, WhatIsHeldIsToldByItsDescriptor) {
    table_.set(1);
    begin();
    watch_->watch(process(1));
    settle();
    EXPECT_EQ(watch_->how(process(1)), How::held);
    EXPECT_EQ(watch_->counts().held, 1U);
    EXPECT_EQ(told("gone 1"), 0U);

    table_.signal_end(1);
    ASSERT_TRUE(wait_until_told("gone 1"));
    EXPECT_NE(departure(1).evidence.find("seen through its pidfd"), std::string::npos);
    ASSERT_TRUE(departure(1).last_look && departure(1).seen_at);
    EXPECT_LE(*departure(1).last_look, *departure(1).seen_at);
    settle();
    EXPECT_EQ(watch_->how(process(1)), How::not_watched);
    EXPECT_EQ(watch_->counts().held, 0U);
    EXPECT_EQ(told("gone 1"), 1U);
}

TEST_F(WatchThread, WithoutADescriptorItIsLookedForByItself) {
    table_.set(1, [](auto& one) { one.can_be_held = false; });
    begin();
    watch_->watch(process(1));
    settle();
    EXPECT_EQ(watch_->how(process(1)), How::looked_at);

    table_.set(1, [](auto& one) { one.is_there = false; });
    ASSERT_TRUE(wait_until_told("gone 1")) << "nobody ever looked again";
}

TEST_F(WatchThread, WhatTheKernelCannotWatchIsLookedFor) {
    table_.set(1, [](auto& one) { one.can_be_polled = false; });
    begin();
    watch_->watch(process(1));
    settle();
    EXPECT_EQ(watch_->how(process(1)), How::looked_at);
    EXPECT_EQ(watch_->counts().looked_at, 1U);
}

TEST_F(WatchThread, NoMoreAreHeldThanItMay) {
    for (const pid_t pid : {1, 2, 3}) table_.set(pid);
    begin(/*held_max=*/2);
    for (const pid_t pid : {1, 2, 3}) watch_->watch(process(pid));
    settle();
    EXPECT_EQ(watch_->counts().held, 2U);
    EXPECT_EQ(watch_->how(process(3)), How::looked_at);

    table_.signal_end(1);
    ASSERT_TRUE(wait_until_told("gone 1"));
    watch_->watch(process(3));
    settle();
    EXPECT_EQ(watch_->how(process(3)), How::held) << "there is room again";
}

TEST_F(WatchThread, WhatCannotBeToldIsLookedForUntilItCan) {
    table_.set(1, [](auto& one) { one.is_readable = false; });
    begin();
    watch_->watch(process(1));
    ASSERT_TRUE(wait_until_told("unknown 1"));
    EXPECT_EQ(watch_->how(process(1)), How::unclear);
    EXPECT_EQ(watch_->counts().unclear, 1U);

    table_.set(1, [](auto& one) { one.is_readable = true; });
    ASSERT_TRUE(wait_until_told("alive 1")) << "nobody ever looked again";
    settle();
    EXPECT_EQ(watch_->how(process(1)), How::held);
    table_.signal_end(1);
    EXPECT_TRUE(wait_until_told("gone 1"));
}

TEST_F(WatchThread, OneThatIsGoneAlreadyIsTold) {
    begin();
    watch_->watch(process(1));
    EXPECT_TRUE(wait_until_told("gone 1"));
}

TEST_F(WatchThread, WhatIsHeldFromTheCallOnIsNotMissed) {
    table_.set(1);
    begin();
    watch_->watch(process(1));  // holds it, whenever the thread gets to it
    table_.set(1, [](auto& one) { one.is_there = false; });
    table_.signal_end(1);
    ASSERT_TRUE(wait_until_told("gone 1"));
    EXPECT_NE(departure(1).evidence.find("seen through its pidfd"), std::string::npos);
}

TEST_F(WatchThread, WhatIsNoLongerWatchedIsNotTold) {
    table_.set(1);
    begin();
    watch_->watch(process(1));
    watch_->unwatch(process(1));
    settle();
    EXPECT_EQ(watch_->how(process(1)), How::not_watched);
    table_.signal_end(1);
    settle();
    EXPECT_EQ(told("gone 1"), 0U);
}

TEST_F(WatchThread, ManyThatEndTogetherAreAllTold) {
    constexpr pid_t count = 270;  // more than one look takes
    for (pid_t pid = 1; pid <= count; ++pid) table_.set(pid);
    begin(/*held_max=*/1000);
    for (pid_t pid = 1; pid <= count; ++pid) watch_->watch(process(pid));
    settle();
    EXPECT_EQ(watch_->counts().held, static_cast<std::size_t>(count));
    for (pid_t pid = 1; pid <= count; ++pid) table_.signal_end(pid);
    for (pid_t pid = 1; pid <= count; ++pid) {
        ASSERT_TRUE(wait_until_told(fmt::format("gone {}", pid)));
    }
}

TEST_F(WatchThread, VouchesForALaterTimeAfterEachLook) {
    table_.set(1);
    begin();
    watch_->watch(process(1));
    settle();
    // What is held is asked again by itself, although nothing happens.
    const auto proven = watch_->proven_until();
    const auto is_later = [&] { return watch_->proven_until() > proven; };
    {
        std::unique_lock lock(mutex_);
        for (int looks = 0; looks < 3000 && !is_later(); ++looks) happened_.wait_for(lock, 10ms);
    }
    EXPECT_TRUE(is_later()) << "nobody looks any more";
    EXPECT_EQ(told("gone 1"), 0U);
}

}  // namespace
}  // namespace knell
