#include "background/tree_stopper.hpp"

#include <algorithm>
#include <csignal>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/spawn.hpp"
#include "testing/fake_holder.hpp"
#include "testing/fake_tree.hpp"
#include "testing/pipe.hpp"
#include "watch/pidfd_holder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::FakeHolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string our_socket = "/run/knell.sock";

// --- with processes that a test invents ----------------------------------------------------------

class StopTree : public ::testing::Test {
  protected:
    void start(pid_t pid, pid_t parent, int dies_of) {
        auto& process = tree.processes[pid];
        process.stat.parent = parent;
        process.stat.start_ticks = 1000 + static_cast<std::uint64_t>(pid);
        process.stat.session = 100;
        holder.dies_of[pid] = dies_of;
    }
    TreeRoot order(pid_t pid = 100) {
        TreeRoot root{ProcessId::from_bits(1), SessionId("s"),
                      tree.identity(pid, tree.processes.at(pid).stat)};
        stopper.add(root, now);
        return root;
    }
    /// Steps every 20 ms for so long, or until something is done.
    std::optional<Fate> run(std::chrono::nanoseconds time) {
        for (const auto end = now + time; now <= end; now += 20ms) {
            const auto done = stopper.step(now);
            if (!done.empty()) {
                EXPECT_EQ(done.size(), 1U);
                left = done.front().left;
                return done.front().fate;
            }
        }
        return std::nullopt;
    }

    std::string left;  // as it was told
    testing::FakeTree tree;
    FakeHolder holder{tree};
    LiveOwners owners;
    TreeStopper stopper{holder, tree, {our_socket, owners, [](auto&&...) { return std::nullopt; }}};
    SteadyTime now{1h};
};

TEST_F(StopTree, IsAskedOnceAndThenGone) {
    start(100, 1, SIGTERM);
    start(101, 100, SIGTERM);
    order();
    order();  // asked twice
    EXPECT_EQ(run(1s), Fate::stopped);
    EXPECT_EQ(left, "");
    EXPECT_THAT(holder.signals[100], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_THAT(holder.signals[101], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_TRUE(stopper.is_idle());
}

TEST_F(StopTree, OneThatDoesNotListenIsKilledAfterAGrace) {
    start(100, 1, 0);
    start(101, 100, 0);
    order();
    EXPECT_EQ(run(Stopper::term_grace - 100ms), std::nullopt);
    EXPECT_THAT(holder.signals[100], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_EQ(run(1s), Fate::killed);
    EXPECT_THAT(holder.signals[101], ElementsAre(SIGTERM, SIGCONT, SIGSTOP, SIGKILL));
}

TEST_F(StopTree, WhatItStartsMeanwhileIsAskedToo) {
    start(100, 1, 0);
    order();
    run(200ms);
    start(101, 100, 0);
    run(2s);
    EXPECT_THAT(holder.signals[101], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_EQ(run(10s), Fate::killed);
}

TEST_F(StopTree, OneThatIsGoneNeedsNoSignal) {
    start(100, 1, 0);
    order();
    tree.processes.clear();
    EXPECT_EQ(run(1s), Fate::gone);
    EXPECT_THAT(holder.signals, IsEmpty());
}

TEST_F(StopTree, AStrangerUnderItsNumberIsNotSignalled) {
    start(100, 1, 0);
    order();
    tree.processes[100].stat.start_ticks += 1;
    EXPECT_EQ(run(1s), Fate::gone);
    EXPECT_THAT(holder.signals, IsEmpty());
}

TEST_F(StopTree, WhatIsSparedIsLeft) {
    start(100, 1, 0);
    start(101, 100, SIGTERM);
    holder.spared = {100};
    tree.processes.at(100).command_line = "agent --serve";
    order();
    EXPECT_EQ(run(10s), Fate::left);
    EXPECT_EQ(left, "process 100 (agent --serve): it, or something below it, owns an open session");
    EXPECT_THAT(holder.signals[100], IsEmpty());
    EXPECT_THAT(holder.signals[101], ElementsAre(SIGTERM, SIGCONT));
}

TEST_F(StopTree, AnOwnerIsNotFoundAndLeft) {
    start(100, 1, 0);
    const auto root = order();
    owners.add(root.process);
    EXPECT_EQ(run(4s), std::nullopt);
    EXPECT_EQ(run(2s), Fate::left);
    EXPECT_THAT(left, StartsWith("process 100 ("));
    EXPECT_THAT(left, EndsWith("): it owns an open session"));
    EXPECT_THAT(holder.signals, IsEmpty());
}

TEST_F(StopTree, OneThatCameOnRecordForAnotherSessionIsLeft) {
    start(100, 1, 0);
    TreeStopper other{holder, tree, {our_socket, owners, [](auto&&...) {
                                         return OthersProcess{ProcessId::from_bits(9),
                                                              SessionId("t")};
                                     }}};
    other.add(order(), now);
    std::vector<TreeStopper::Stopped> done;
    for (const auto end = now + 6s; now < end && done.empty(); now += 20ms) done = other.step(now);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().fate, Fate::left);
    EXPECT_THAT(done.front().left, EndsWith("): it is background process " +
                                            ProcessId::from_bits(9).text() + " of session t"));
    EXPECT_THAT(holder.signals, IsEmpty());
}

/// It was seen below, has left the tree since and become somebody's: nothing that is found shows
/// that it runs on.
class StopTreeThatSomethingLeft : public StopTree {
  protected:
    TreeRoot order_all() {
        start(100, 1, SIGTERM);
        start(200, 1, SIGTERM);
        auto& process = tree.processes.at(200);
        process.stat.session = 200;
        process.command_line = "agent --serve";
        TreeRoot root{ProcessId::from_bits(1), SessionId("s"),
                      tree.identity(100, tree.processes.at(100).stat)};
        root.seen = {tree.identity(200, process.stat)};
        return root;
    }
};

TEST_F(StopTreeThatSomethingLeft, AnOwnerOfASessionIsSparedAndTold) {
    const auto root = order_all();
    owners.add(root.seen.front());
    stopper.add(root, now);
    EXPECT_EQ(run(4s), std::nullopt) << "it may yet end with the rest";
    EXPECT_EQ(run(2s), Fate::left);
    EXPECT_EQ(left, "process 200 (agent --serve): it owns an open session");
    EXPECT_THAT(holder.signals[100], ElementsAre(SIGTERM, SIGCONT));
    EXPECT_THAT(holder.signals[200], IsEmpty());
}

TEST_F(StopTreeThatSomethingLeft, AnOwnerThatEndsWithTheRestIsNotLeft) {
    const auto root = order_all();
    owners.add(root.seen.front());
    stopper.add(root, now);
    EXPECT_EQ(run(2s), std::nullopt);
    tree.processes.at(200).stat.state = 'Z';
    EXPECT_EQ(run(2s), Fate::stopped);
    EXPECT_EQ(left, "");
}

TEST_F(StopTreeThatSomethingLeft, AProcessOfAnotherSessionIsSparedAndTold) {
    const auto root = order_all();
    const auto id = ProcessId::from_bits(9);
    const auto as_others = [&](const ProcessIdentity& process,
                               const SessionId&) -> std::optional<OthersProcess> {
        if (process.pid != 200) return std::nullopt;
        return OthersProcess{id, SessionId("t")};
    };
    TreeStopper other{holder, tree, {our_socket, owners, as_others}};
    other.add(root, now);
    std::vector<TreeStopper::Stopped> done;
    for (const auto end = now + 6s; now < end && done.empty(); now += 20ms) done = other.step(now);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().fate, Fate::left);
    EXPECT_EQ(done.front().left, "process 200 (agent --serve): it is background process " +
                                     id.text() + " of session t");
    EXPECT_THAT(holder.signals[200], IsEmpty());
}

TEST_F(StopTree, OfManyThatAreLeftSomeAreNamed) {
    for (pid_t pid = 100; pid < 105; ++pid) {
        start(pid, pid == 100 ? 1 : 100, 0);
        holder.spared.insert(pid);
    }
    order();
    EXPECT_EQ(run(1s), Fate::left);
    EXPECT_THAT(left, AllOf(HasSubstr("process 102 ("), Not(HasSubstr("process 103 ("))));
    EXPECT_THAT(left, EndsWith(" and 2 more: they, or what is below them, own open sessions"));
}

TEST_F(StopTree, OneThatBecomesAnOwnerAtTheLastMomentGoesOn) {
    start(100, 1, 0);
    start(101, 100, 0);
    order();
    run(Stopper::term_grace - 100ms);
    struct SparesLate final : ProcessHolder {
        const FakeHolder& real;
        mutable int asked = 0;
        explicit SparesLate(const FakeHolder& holder) : real(holder) {}
        std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
            const ProcessIdentity& process) const override {
            return real.hold(process);
        }
        bool is_spared(const ProcessIdentity&) const override { return ++asked > 4; }
    } late(holder);
    TreeStopper other{late, tree, {our_socket, owners, [](auto&&...) { return std::nullopt; }}};
    other.add(
        {ProcessId::from_bits(1), SessionId("s"), tree.identity(100, tree.processes.at(100).stat)},
        now);
    std::vector<TreeStopper::Stopped> done;
    for (const auto end = now + 11s; now < end && done.empty(); now += 20ms) done = other.step(now);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done.front().fate, Fate::left);
    EXPECT_EQ(holder.signals[101].back(), SIGCONT);
    EXPECT_THAT(holder.signals[101], Not(Contains(SIGKILL)));
}

TEST_F(StopTree, OneThatCannotBeKilledIsLeft) {
    start(100, 1, 0);
    holder.dies_of_all = 0;
    order();
    EXPECT_EQ(run(9s), std::nullopt);
    EXPECT_EQ(run(2s), Fate::left);
    EXPECT_THAT(left, EndsWith("): still there after SIGKILL"));
}

TEST_F(StopTree, OneThatMayNotBeSignalledIsLeftAndSaidWhose) {
    start(100, 1, SIGTERM);
    start(101, 100, SIGTERM);
    holder.belongs_to[101] = 0;
    tree.processes.at(101).command_line = "su -c 'sleep 9'";
    order();
    EXPECT_EQ(run(9s), std::nullopt);
    EXPECT_EQ(run(3s), Fate::left);
    EXPECT_EQ(left,
              "process 101 (su -c 'sleep 9'): belongs to uid 0, which this daemon may not signal");
    EXPECT_FALSE(tree.processes.contains(100)) << "the rest is stopped";
}

TEST_F(StopTree, OneThatMayNotBeSignalledIsToldApartFromOneThatCannotBeKilled) {
    start(100, 1, 0);
    start(101, 100, 0);
    start(102, 100, 0);
    holder.dies_of_all = 0;
    holder.belongs_to[101] = 0;
    holder.belongs_to[102] = std::nullopt;
    order();
    EXPECT_EQ(run(12s), Fate::left);
    EXPECT_EQ(left,
              "process 101 (sleep 9): belongs to uid 0, which this daemon may not signal; "
              "process 102 (sleep 9): belongs to somebody whom this daemon may not signal; "
              "process 100 (sleep 9): still there after SIGKILL");
}

TEST_F(StopTree, OneThatMayBeSignalledAtLastIsStopped) {
    start(100, 1, SIGTERM);
    holder.belongs_to[100] = 0;
    order();
    EXPECT_EQ(run(2s), std::nullopt);
    holder.belongs_to.clear();  // it has given its rights away
    EXPECT_EQ(run(2s), Fate::stopped);
}

TEST_F(StopTree, OneThatWasKilledMayTakeItsTimeOnABusyHost) {
    start(100, 1, 0);
    holder.dies_of_all = 0;
    order();
    while (std::ranges::count(holder.signals[100], SIGKILL) == 0) run(20ms);
    now += 2 * Stopper::kill_grace;  // neither it nor we were given the processor
    EXPECT_EQ(run(100ms), std::nullopt) << "time alone does not say that it cannot be killed";
    tree.processes.clear();
    EXPECT_EQ(run(1s), Fate::killed);
}

TEST_F(StopTree, WithoutADescriptorItIsTriedAgainUntilItsTimeIsUp) {
    start(100, 1, SIGTERM);
    holder.out_of_descriptors = true;
    order();
    run(2s);
    EXPECT_THAT(holder.signals, IsEmpty());
    holder.out_of_descriptors = false;
    EXPECT_EQ(run(2s), Fate::stopped);
}

TEST_F(StopTree, WithoutADescriptorToTheEndItIsLeft) {
    start(100, 1, SIGTERM);
    holder.out_of_descriptors = true;
    order();
    EXPECT_EQ(run(20s), Fate::left);
    EXPECT_THAT(left, EndsWith("): cannot be held, and so not be signalled, from here"));
    EXPECT_THAT(holder.signals, IsEmpty());
}

TEST_F(StopTree, OneThatCannotBeSeenFromHereIsLeft) {
    start(100, 1, SIGTERM);
    auto root = TreeRoot{ProcessId::from_bits(1), SessionId("s"),
                         tree.identity(100, tree.processes.at(100).stat)};
    root.process.pid_namespace = 99;
    holder.out_of_descriptors = true;
    stopper.add(root, now);
    EXPECT_EQ(run(6s), Fate::left);
    EXPECT_EQ(left, "process 100: it is in a pid namespace that is not the daemon's");
}

TEST_F(StopTree, OneThatCannotBeLookedAtIsLeft) {
    start(100, 1, SIGTERM);
    const auto root = order();
    tree.processes.clear();
    holder.out_of_descriptors = true;
    EXPECT_EQ(run(6s), Fate::left);
    EXPECT_THAT(left, StartsWith("process 100: it cannot be looked at from here"));
}

// --- with real ones ------------------------------------------------------------------------------

class StopRealTree : public ::testing::Test {
  protected:
    ~StopRealTree() override {
        ::kill(-pid, SIGKILL);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
    }
    /// Started as a background process is; returns when it has said something.
    void start(const std::string& script) {
        testing::Pipe ready;
        const auto child =
            spawn({.program = ProgramAt{"/bin/sh"},
                   .argv = {"sh", "-c", script},
                   .environment =
                       std::vector<std::string>{"PATH=/usr/bin:/bin", "KNELL_SESSION_ID=s",
                                                "KNELL_GENERATION=1", "KNELL_SOCKET=" + our_socket,
                                                "KNELL_PROCESS_ID=" + root.id.text()},
                   .descriptors = {{ready.writer.get(), 9}},
                   .closes_others = true,
                   .group = ChildSpec::Group::own_session});
        ASSERT_TRUE(child);
        pid = child->pid;
        ready.writer.reset();
        char byte = 0;
        ASSERT_EQ(::read(ready.reader.get(), &byte, 1), 1);
        root.process = *table.identify(pid);
    }
    /// Time passes faster than it does for them: after a grace a step later it is over.
    Fate stop(std::chrono::nanoseconds pace) {
        stopper.add(root, now);
        for (int steps = 0; steps < 5000; ++steps, now += pace) {
            const auto done = stopper.step(now);
            if (!done.empty()) return done.front().fate;
            ::poll(nullptr, 0, 2);
        }
        return Fate::unknown;
    }
    std::vector<ProcessIdentity> left() const { return find_tree(root, tree, bounds()); }
    TreeBounds bounds() const {
        return {our_socket, owners, [](auto&&...) { return std::nullopt; }};
    }

    ProcTable table;
    ProcTree tree{table};
    LiveOwners owners;
    PidfdHolder holder{tree, owners};
    TreeStopper stopper{holder, tree, bounds()};
    // A mark of its own: what carries it is stopped, also what a test started that runs beside
    // this.
    TreeRoot root{ProcessId::from_bits(static_cast<std::uint64_t>(::getpid())), SessionId("s"), {}};
    pid_t pid = 0;
    SteadyTime now{1h};
};

TEST_F(StopRealTree, EndsWithAllThatItStarted) {
    start("sleep 1000 & setsid sleep 1000 & echo >&9; wait");
    EXPECT_EQ(stop(20ms), Fate::stopped);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(StopRealTree, OneThatIgnoresItIsKilled) {
    start("trap '' TERM; sleep 1000 & echo >&9; wait");
    EXPECT_EQ(stop(500ms), Fate::killed);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(StopRealTree, OneThatIsStoppedEndsToo) {
    start("echo >&9; kill -STOP $$; exit 0");
    siginfo_t stopped{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &stopped, WSTOPPED | WNOWAIT), 0);
    EXPECT_EQ(stop(20ms), Fate::stopped);
}

TEST_F(StopRealTree, AStormOfForksEnds) {
    // Each says that it does not want to end, and starts the next.
    start(
        "trap '' TERM; echo >&9; "
        "storm() { i=0; while [ $i -lt 400 ]; do (sleep 0.05; sleep 1000) & i=$((i+1)); done; }; "
        "storm & storm & wait; sleep 1000");
    EXPECT_EQ(stop(500ms), Fate::killed);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(StopRealTree, WhatIsNotItsOwnGoesOn) {
    const auto other = spawn({.program = ProgramAt{"/bin/sleep"}, .argv = {"sleep", "1000"}});
    ASSERT_TRUE(other);
    start("echo >&9; sleep 1000");
    stop(20ms);
    EXPECT_EQ(::waitpid(other->pid, nullptr, WNOHANG), 0);
    ::kill(other->pid, SIGKILL);
    ::waitpid(other->pid, nullptr, 0);
}

}  // namespace
}  // namespace knell
