#include "daemon/leftover_thread.hpp"

#include <csignal>
#include <future>
#include <latch>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "platform/spawn.hpp"
#include "testing/fake_tree.hpp"
#include "testing/pipe.hpp"

namespace knell {
namespace {

TEST(LeftoverThread, AFullQueueLeavesTheAnswerToItsCaller) {
    const testing::FakeTree tree;
    LiveOwners owners;
    std::latch busy{1};
    std::latch free{1};
    LeftoverThread thread(tree, {"", owners, [](auto&&...) { return std::nullopt; }},
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

/// Real processes: what one leaves running, and that it is stopped.
class Survivors : public ::testing::Test {
  protected:
    /// Returns when it has said something.
    pid_t start(const std::string& script) {
        testing::Pipe ready;
        const auto child =
            spawn({.program = ProgramAt{"/bin/sh"},
                   .argv = {"sh", "-c", script},
                   .environment =
                       std::vector<std::string>{"PATH=/usr/bin:/bin", "KNELL_SESSION_ID=s",
                                                "KNELL_GENERATION=1", "KNELL_SOCKET=/run/none.sock",
                                                "KNELL_PROCESS_ID=" + root.id.text()},
                   .descriptors = {{ready.writer.get(), 9}},
                   .closes_others = true,
                   .group = ChildSpec::Group::own_session});
        EXPECT_TRUE(child);
        ready.writer.reset();
        char byte = 0;
        EXPECT_EQ(::read(ready.reader.get(), &byte, 1), 1);
        root.process = *table.identify(child->pid);
        return child->pid;
    }
    std::vector<Leftover> survivors() {
        std::promise<std::vector<Leftover>> found;
        thread.find_survivors(root, [&](auto survivors) { found.set_value(std::move(survivors)); });
        return found.get_future().get();
    }

    ProcTable table;
    ProcTree tree{table};
    LiveOwners owners;
    // A mark of its own: what carries it is found, also what a test started that runs beside this.
    TreeRoot root{ProcessId::from_bits(static_cast<std::uint64_t>(::getpid())), SessionId("s"), {}};
    std::promise<TreeStopper::Stopped> stopped;
    std::promise<StopOrder> settled;
    LeftoverThread thread{tree,
                          {"/run/none.sock", owners, [](auto&&...) { return std::nullopt; }},
                          {[this](StopOrder order) { settled.set_value(std::move(order)); },
                           [this](const auto& one) { stopped.set_value(one); }}};
};

TEST_F(Survivors, AreFoundOnceEachTreeAndStoppedWithIt) {
    // Ended only when what it leaves stands: what is just being executed shows no mark.
    const auto pid = start("setsid sh -c 'sleep 1000 & echo >&9; sleep 1000; :' & exec sleep 1000");
    ::kill(pid, SIGKILL);
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
    const auto found = survivors();
    ASSERT_EQ(found.size(), 1U) << "the topmost alone";
    EXPECT_EQ(found[0].found_by, "left running by background process " + root.id.text());
    EXPECT_EQ(found[0].fate, Fate::left);
    thread.stop_tree(root);
    EXPECT_TRUE(survivors().empty()) << "asked when that is over";
    EXPECT_EQ(stopped.get_future().get().fate, Fate::stopped);
    ::waitpid(pid, nullptr, 0);
}

TEST_F(Survivors, AnOrderIsSettledWhenItsTreesAre) {
    const auto pid = start("echo >&9; sleep 1000; :");
    Leftover leftover;
    leftover.process = root.process;
    leftover.process_id = root.id;
    leftover.fate = Fate::stopping;
    thread.stop_leftovers({SessionId("s"), 1, {leftover}});
    EXPECT_EQ(settled.get_future().get().leftovers.front().fate, Fate::stopped);
    ::waitpid(pid, nullptr, 0);
}

/// The process itself is gone, and what it started does not want to.
TEST_F(Survivors, ATreeIsBeingStoppedUntilAllOfItIsGone) {
    const auto pid = start("(trap '' TERM; echo >&9; sleep 1000; :) & wait");
    EXPECT_FALSE(thread.stop_state(root.id).is_stopping);
    thread.stop_tree(root);
    EXPECT_TRUE(thread.stop_state(root.id).is_stopping) << "from the moment it was asked for";
    ::waitpid(pid, nullptr, 0);
    EXPECT_TRUE(thread.stop_state(root.id).is_stopping) << "its child has its grace";
    EXPECT_EQ(stopped.get_future().get().fate, Fate::killed);
    thread.stop();
    EXPECT_EQ(thread.stop_state(root.id), StopState{});
}

TEST_F(Survivors, WhatIsLeftIsKnown) {
    const auto pid = start("sleep 1000 & echo >&9; wait");
    const auto children = tree.children(pid).value();
    ASSERT_EQ(children.size(), 1U);
    owners.add(*table.identify(children.front()));
    thread.stop_tree(root);
    EXPECT_EQ(stopped.get_future().get().fate, Fate::left);
    thread.stop();
    EXPECT_NE(thread.stop_state(root.id).left.find("owns an open session"), std::string::npos);
    ::kill(children.front(), SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace knell
