#include "watch/watch_list.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;

/// Processes, descriptors and a clock that do what a test says.
class WatchListTest : public ::testing::Test, public ProcessTable, public WatchList::Holder {
  protected:
    struct Process {
        bool there = true;
        bool readable = true;
    };

    static ProcessIdentity identity(pid_t pid, std::uint64_t pid_namespace = 1) {
        return {pid, 7, pid_namespace, "boot"};
    }

    std::optional<ProcessIdentity> identify(pid_t pid) const override { return identity(pid); }
    ProcessSnapshot look_at(pid_t pid) const override {
        now += look_takes;
        const auto found = processes.find(pid);
        if (found == processes.end() || !found->second.there) return {.nobody = true};
        if (!found->second.readable) return {.why_unreadable = "Too many open files"};
        return {.start_ticks = 7};
    }
    Departure exit_of(const ProcessSnapshot&, const ProcessIdentity&) const override { return {}; }
    const std::string& boot_id() const override { return boot; }
    std::uint64_t own_pid_namespace() const override { return 1; }
    std::uint64_t pid_namespace_of(pid_t) const override { return 1; }
    Located locate(const NamedPid& named, pid_t) const override {
        return {.kind = Located::Kind::here, .pid = named.pid, .why = {}};
    }

    bool hold(WatchList::Number number, const ProcessIdentity& process, Fd&&) override {
        if (held.size() >= descriptors) return false;
        held.emplace(number, process.pid);
        return true;
    }
    void release(WatchList::Number number) override { held.erase(number); }

    void watch(pid_t pid) { list.watch(identity(pid), list.look(identity(pid))); }
    void end_held(pid_t pid) {
        processes[pid].there = false;
        for (const auto& [number, held_pid] : std::map(held)) {
            if (held_pid != pid) continue;
            list.ended(number, [](const ProcessIdentity&) {
                return Departure{.kind = Departure::Kind::signaled, .number = 9};
            });
        }
    }
    /// The watch thread goes its rounds for so long.
    void run(std::chrono::milliseconds time) {
        for (const auto until = now + time; now < until; now += 250ms) {
            list.looked_at_held(now);
            list.look_again();
            list.check_invariants();
        }
    }
    WatchList::How how(pid_t pid) const { return list.how(identity(pid)); }

    const std::string boot = "boot";
    mutable SteadyTime now{1000s};
    std::chrono::milliseconds look_takes{0};
    std::map<pid_t, Process> processes;
    std::map<WatchList::Number, pid_t> held;
    std::size_t descriptors = 100;
    std::vector<std::string> told;
    std::optional<Departure> departure;
    WatchList list{*this,
                   *this,
                   {.gone =
                        [this](const auto& process, const auto& how) {
                            told.push_back("gone " + std::to_string(process.pid));
                            departure = how;
                        },
                    .unknown =
                        [this](const auto& process, const auto&) {
                            told.push_back("unknown " + std::to_string(process.pid));
                        },
                    .alive =
                        [this](const auto& process) {
                            told.push_back("alive " + std::to_string(process.pid));
                        }},
                   [this] { return now; }};
    using Told = std::vector<std::string>;
};

TEST_F(WatchListTest, WhatIsHeldIsToldWhenItEndsBetweenTheLastLookAndNow) {
    processes[5] = {};
    watch(5);
    EXPECT_EQ(how(5), WatchList::How::held);
    now += 10s;
    list.looked_at_held(now);
    const auto looked = now;
    now += 200ms;

    end_held(5);

    EXPECT_EQ(told, Told{"gone 5"});
    EXPECT_EQ(departure->last_look, looked);
    EXPECT_EQ(departure->seen_at, now);
    EXPECT_EQ(how(5), WatchList::How::not_watched);
    list.check_invariants();
}

TEST_F(WatchListTest, ALookFromBeforeItWasHeldProvesNothing) {
    list.looked_at_held(now);
    now += 10s;
    processes[5] = {};
    look_takes = 300ms;
    const auto before = now;
    watch(5);

    end_held(5);

    EXPECT_EQ(departure->last_look, before);
}

TEST_F(WatchListTest, WithoutADescriptorItIsLookedForUntilItIsGone) {
    descriptors = 0;
    processes[5] = {};
    watch(5);
    EXPECT_EQ(how(5), WatchList::How::looked_at);
    run(10s);
    EXPECT_TRUE(told.empty());
    const auto died = now;
    processes[5].there = false;

    run(2s);

    EXPECT_EQ(told, Told{"gone 5"});
    EXPECT_LE(*departure->last_look, died);
    EXPECT_GE(*departure->last_look, died - 2s);
    EXPECT_GE(*departure->seen_at, died);
}

TEST_F(WatchListTest, ItIsHeldAsSoonAsThereIsADescriptorAgain) {
    descriptors = 0;
    processes[5] = {};
    watch(5);
    descriptors = 1;

    run(2s);

    EXPECT_EQ(how(5), WatchList::How::held);
    EXPECT_FALSE(list.next_look());
}

TEST_F(WatchListTest, WhatCannotBeToldIsSaidOnceAndLookedForAgainByItself) {
    processes[5].readable = false;
    watch(5);
    EXPECT_EQ(how(5), WatchList::How::unclear);
    run(120s);
    EXPECT_EQ(told, Told{"unknown 5"});

    processes[5].readable = true;
    run(31s);

    EXPECT_EQ(told, (Told{"unknown 5", "alive 5"}));
    EXPECT_EQ(how(5), WatchList::How::held);
}

TEST_F(WatchListTest, WhatCannotBeToldIsLookedForEverMoreSlowlyDownToEveryHalfMinute) {
    processes[1].readable = false;
    watch(1);
    for (const auto delay : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        EXPECT_EQ(*list.next_look() - now, delay);
        now = *list.next_look();
        list.look_again();
        list.check_invariants();
    }
    processes[1].readable = true;
    now = *list.next_look();
    list.look_again();
    end_held(1);
    processes[1] = {.readable = false};
    watch(1);
    EXPECT_EQ(*list.next_look() - now, 1s) << "from the beginning";
}

TEST_F(WatchListTest, WhatHasNoDescriptorIsLookedForASecondLaterNotBefore) {
    descriptors = 0;
    processes[1];
    watch(1);
    EXPECT_EQ(*list.next_look() - now, 1s);
    processes[1].there = false;
    now += 1s - 1ns;
    list.look_again();
    EXPECT_EQ(how(1), WatchList::How::looked_at) << "too early";
    now += 1ns;
    list.look_again();
    EXPECT_EQ(how(1), WatchList::How::not_watched);
}

TEST_F(WatchListTest, WhatEndsWhileItCannotBeToldIsFoundToo) {
    processes[5] = {};
    descriptors = 0;
    watch(5);
    const auto seen_there = now;
    processes[5].readable = false;
    run(10s);
    processes[5].there = false;

    run(31s);

    EXPECT_EQ(told, (Told{"unknown 5", "gone 5"}));
    EXPECT_LE(*departure->last_look, seen_there + 1s);
    list.check_invariants();
}

TEST_F(WatchListTest, OneThatIsGoneAtTheFirstLookWasNeverSeen) {
    look_takes = 100ms;
    watch(5);

    EXPECT_EQ(told, Told{"gone 5"});
    EXPECT_FALSE(departure->last_look);
    EXPECT_EQ(departure->seen_at, now);
}

TEST_F(WatchListTest, ASecondLookAtWhatIsHeldChangesNothing) {
    processes[5] = {};
    watch(5);
    processes[5].there = false;

    watch(5);

    EXPECT_TRUE(told.empty()) << "its descriptor will tell, and how";
}

TEST_F(WatchListTest, TheSameNumberInAnotherNamespaceIsAnotherProcess) {
    processes[5] = {};
    watch(5);

    EXPECT_EQ(list.how(identity(5, /*pid_namespace=*/2)), WatchList::How::not_watched);
}

TEST_F(WatchListTest, WhatIsNoLongerWatchedIsForgotten) {
    processes[5] = {};
    processes[6] = {};
    watch(5);
    descriptors = 1;
    watch(6);
    processes[7].readable = false;
    watch(7);
    for (const pid_t pid : {5, 6, 7}) list.unwatch(identity(pid));

    run(40s);

    EXPECT_EQ(told, Told{"unknown 7"});
    EXPECT_TRUE(held.empty());
    list.check_invariants();
}

TEST_F(WatchListTest, ItVouchesForNoMoreThanItsOldestLook) {
    processes[5] = {};
    processes[6] = {};
    descriptors = 1;
    watch(5);
    watch(6);  // looked for
    const auto first_look = now;
    now += 500ms;
    list.looked_at_held(now);
    EXPECT_EQ(list.proven_until(), first_look);

    list.unwatch(identity(6));
    EXPECT_EQ(list.proven_until(), now);
}

TEST_F(WatchListTest, ManyWithoutDescriptorsAreLookedForInTurn) {
    descriptors = 0;
    for (pid_t pid = 1; pid <= 5000; ++pid) {
        processes[pid] = {};
        watch(pid);
    }
    run(4s);
    for (pid_t pid = 1; pid <= 5000; ++pid) processes[pid].there = false;

    run(10s);

    EXPECT_EQ(told.size(), 5000U);
}

TEST_F(WatchListTest, ATableThatKnowsNoMoreSaysNobodyAndTrustsItsCallers) {
    const ProcessTable& table = *this;
    EXPECT_EQ(table.parent_of(1), std::nullopt);
    EXPECT_TRUE(table.is_knell(1));
}

}  // namespace
}  // namespace knell
