#include "watch/stopper.hpp"

#include <csignal>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Processes that can be held, and what was sent to them.
class FakeHolder final : public ProcessHolder {
  public:
    struct Process {
        ProcessIdentity identity;
        bool runs = true;
        int dies_of = SIGTERM;  // and of SIGKILL; 0: of nothing
        std::vector<int> signals;
    };
    class Held final : public HeldProcess {
      public:
        explicit Held(Process& process) : process_(process) {}
        bool has_ended() const override { return !process_.runs; }
        int signal(int number) override {
            process_.signals.push_back(number);
            if (process_.dies_of == number) process_.runs = false;
            return 0;
        }
        std::optional<uid_t> uid() const override { return std::nullopt; }

      private:
        Process& process_;
    };

    std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const override {
        if (out_of_descriptors) return std::unexpected(NotHeld::unreachable);
        const auto found = processes.find(process.pid);
        if (found == processes.end()) return std::unexpected(NotHeld::gone);
        if (found->second.identity != process) return std::unexpected(NotHeld::gone);
        return std::make_unique<Held>(found->second);
    }
    bool is_spared(const ProcessIdentity& process) const override {
        return spared.contains(process.pid);
    }

    mutable std::map<pid_t, Process> processes;
    std::set<pid_t> spared;
    bool out_of_descriptors = false;
};

class Stop : public ::testing::Test {
  protected:
    Leftover start(pid_t pid, int dies_of = SIGTERM) {
        Leftover leftover;
        leftover.process.pid = pid;
        leftover.process.start_ticks = 7;
        leftover.process.boot_id = "boot-1";
        leftover.fate = Fate::stopping;
        processes.processes[pid] = {
            .identity = leftover.process, .runs = true, .dies_of = dies_of, .signals = {}};
        return leftover;
    }
    void order(std::vector<Leftover> leftovers) {
        stopper.add({SessionId("s"), 1, std::move(leftovers)}, now);
    }
    /// The fates of what is done after this time.
    std::vector<Fate> after(std::chrono::nanoseconds time) {
        now += time;
        std::vector<Fate> fates;
        for (const auto& done : stopper.step(now)) {
            for (const auto& leftover : done.leftovers) fates.push_back(leftover.fate);
        }
        return fates;
    }
    const std::vector<int>& sent_to(pid_t pid) { return processes.processes.at(pid).signals; }

    FakeHolder processes;
    Stopper stopper{processes};
    SteadyTime now{1h};
};

TEST_F(Stop, AsksFirstAndTellsOnceAllAreDone) {
    order({start(1), start(2, SIGKILL)});

    EXPECT_THAT(after(0s), IsEmpty());
    EXPECT_THAT(after(100ms), IsEmpty()) << "the second still runs";
    EXPECT_THAT(sent_to(1), ElementsAre(SIGTERM));
    EXPECT_THAT(sent_to(2), ElementsAre(SIGTERM));
    EXPECT_THAT(after(Stopper::term_grace), IsEmpty());
    EXPECT_THAT(after(0s), ElementsAre(Fate::stopped, Fate::killed));
    EXPECT_THAT(sent_to(2), ElementsAre(SIGTERM, SIGKILL));
    EXPECT_TRUE(stopper.is_idle());
    EXPECT_THAT(after(1h), IsEmpty());
}

TEST_F(Stop, DoesNotTouchWhoeverHasThePidByNow) {
    auto leftover = start(1);
    ++processes.processes[1].identity.start_ticks;
    order({leftover});

    EXPECT_THAT(after(0s), ElementsAre(Fate::gone));
    EXPECT_THAT(sent_to(1), IsEmpty());
}

TEST_F(Stop, DoesNotKillWhoeverGetsThePidAfterTheFirstSignal) {
    order({start(1)});
    after(0s);
    const auto stranger = start(1);  // what was held is the one that ended
    processes.processes[1].runs = false;

    after(Stopper::term_grace);

    EXPECT_THAT(sent_to(1), IsEmpty());
}

TEST_F(Stop, LeavesAloneWhatIsNotToBeStopped) {
    auto shared = start(1);
    shared.fate = Fate::shared;
    auto left = start(2);
    left.fate = Fate::left;
    order({shared, left, start(3)});

    after(0s);

    EXPECT_THAT(after(0s), ElementsAre(Fate::shared, Fate::left, Fate::stopped));
    EXPECT_THAT(sent_to(1), IsEmpty());
    EXPECT_THAT(sent_to(2), IsEmpty());
}

TEST_F(Stop, SparesWhoOwnsASessionByNow) {
    processes.spared = {1};
    order({start(1)});

    EXPECT_THAT(after(0s), ElementsAre(Fate::left));
    EXPECT_THAT(sent_to(1), IsEmpty());
}

TEST_F(Stop, DoesNotKillWhoCameToOwnASessionMeanwhile) {
    order({start(1, SIGKILL)});
    after(0s);
    processes.spared = {1};

    EXPECT_THAT(after(Stopper::term_grace), ElementsAre(Fate::left));
    EXPECT_THAT(sent_to(1), ElementsAre(SIGTERM));
}

TEST_F(Stop, SignalsNothingThatCannotBeHeldAndTriesAgainForAWhile) {
    processes.out_of_descriptors = true;
    order({start(1), start(2)});
    EXPECT_THAT(after(1s), IsEmpty());
    processes.out_of_descriptors = false;
    after(1s);
    EXPECT_THAT(after(0s), ElementsAre(Fate::stopped, Fate::stopped));

    processes.out_of_descriptors = true;
    order({start(3)});
    EXPECT_THAT(after(Stopper::term_grace), ElementsAre(Fate::left));
    EXPECT_THAT(sent_to(3), IsEmpty());
}

TEST_F(Stop, GivesUpOnWhatCannotBeKilled) {
    order({start(1, /*dies_of=*/0)});
    after(0s);
    after(Stopper::term_grace);
    EXPECT_THAT(after(0s), IsEmpty());

    EXPECT_THAT(after(Stopper::kill_grace), ElementsAre(Fate::left));
    EXPECT_THAT(sent_to(1), ElementsAre(SIGTERM, SIGKILL));
}

TEST_F(Stop, WhatEndedByItselfIsGone) {
    order({start(1)});
    processes.processes[1].runs = false;

    EXPECT_THAT(after(0s), ElementsAre(Fate::gone));
    EXPECT_THAT(sent_to(1), IsEmpty());
}

}  // namespace
}  // namespace knell
