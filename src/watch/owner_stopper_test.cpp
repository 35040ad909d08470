#include "watch/owner_stopper.hpp"

#include <cerrno>
#include <csignal>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Process {
    bool runs = true;
    int dies_of = SIGTERM;
    int refuses_with = 0;
    std::vector<int> signals{};
};

class Held final : public HeldProcess {
  public:
    explicit Held(Process& process) : process_(process) {}
    bool has_ended() const override { return !process_.runs; }
    int signal(int number) override {
        if (process_.refuses_with != 0) return process_.refuses_with;
        process_.signals.push_back(number);
        if (number == process_.dies_of || number == SIGKILL) process_.runs = false;
        return 0;
    }
    std::optional<uid_t> uid() const override { return 1234; }

  private:
    Process& process_;
};

class Holder final : public ProcessHolder {
  public:
    std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const override {
        if (is_unreachable) return std::unexpected(NotHeld::unreachable);
        const auto found = processes.find(process.pid);
        if (found == processes.end()) return std::unexpected(NotHeld::gone);
        return std::make_unique<Held>(found->second);
    }
    /// What owns a session is to be stopped here, so nobody asks.
    bool is_spared(const ProcessIdentity&) const override { return true; }

    mutable std::map<pid_t, Process> processes;
    bool is_unreachable = false;
};

class StopOwner : public ::testing::Test {
  protected:
    static SteadyTime at(std::chrono::nanoseconds since) { return SteadyTime{since}; }
    void stop(pid_t pid) {
        stopper.add(
            {.pid = pid, .start_ticks = 7, .pid_namespace = 1, .boot_id = "boot"},
            [this](OwnerStopper::Stopped one) { told.push_back(std::move(one)); }, at(0s));
    }

    Holder holder;
    std::set<pid_t> owners{10};
    OwnerStopper stopper{
        holder, [this](const ProcessIdentity& process) { return owners.contains(process.pid); }};
    std::vector<OwnerStopper::Stopped> told;
};

TEST_F(StopOwner, TermIsEnoughForMostAndWakesOneThatIsStopped) {
    holder.processes[10] = {};
    stop(10);

    stopper.step(at(0s));
    EXPECT_THAT(told, IsEmpty());
    stopper.step(at(20ms));

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].fate, Fate::stopped);
    EXPECT_THAT(holder.processes[10].signals, ElementsAre(SIGTERM, SIGCONT));
    EXPECT_TRUE(stopper.is_idle());
}

TEST_F(StopOwner, WhatIgnoresTermIsKilledAfterTheGraceAndNotBefore) {
    holder.processes[10] = {.dies_of = 0};
    stop(10);

    stopper.step(at(0s));
    stopper.step(at(Stopper::term_grace) - 1ns);
    EXPECT_THAT(holder.processes[10].signals, ElementsAre(SIGTERM, SIGCONT));
    stopper.step(at(Stopper::term_grace));
    stopper.step(at(Stopper::term_grace) + 20ms);

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].fate, Fate::killed);
}

TEST_F(StopOwner, WhoOwnsNothingAnyMoreIsNotSignalled) {
    holder.processes[10] = {.dies_of = 0};
    stop(10);
    stopper.step(at(0s));
    owners.clear();

    stopper.step(at(Stopper::term_grace));

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].fate, Fate::left);
    EXPECT_THAT(holder.processes[10].signals, ElementsAre(SIGTERM, SIGCONT));
}

TEST_F(StopOwner, AnothersProcessIsLeftAndItIsSaidWhose) {
    holder.processes[10] = {.refuses_with = EPERM};
    stop(10);

    stopper.step(at(0s));

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].fate, Fate::left);
    EXPECT_THAT(told[0].why_left, HasSubstr("uid 1234"));
}

TEST_F(StopOwner, OneThatCannotBeHeldIsTriedForAGraceAndThenLeft) {
    holder.processes[10] = {};
    holder.is_unreachable = true;
    stop(10);

    stopper.step(at(0s));
    EXPECT_THAT(told, IsEmpty());
    stopper.step(at(Stopper::term_grace));

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].fate, Fate::left);
    EXPECT_THAT(holder.processes[10].signals, IsEmpty());
}

TEST_F(StopOwner, OneThatIsGoneIsSaidToBe) {
    stop(10);

    stopper.step(at(0s));

    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].fate, Fate::gone);
}

TEST_F(StopOwner, WhoAsksASecondTimeHearsTheSame) {
    holder.processes[10] = {};
    stop(10);
    stopper.step(at(0s));
    stop(10);

    stopper.step(at(20ms));

    EXPECT_EQ(told.size(), 2U);
    EXPECT_THAT(holder.processes[10].signals, ElementsAre(SIGTERM, SIGCONT));
}

}  // namespace
}  // namespace knell
