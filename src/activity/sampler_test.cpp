#include "activity/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto noon = from_millis(1'779'105'600'000);

/// Shows what a test says; one that it says nothing about is gone.
class InventedSource final : public SampleSource {
  public:
    void begin_round(SteadyTime) override { ++rounds; }
    TreeSample look(const ProcessIdentity& process, SteadyTime now) override {
        looks.emplace_back(process.pid, now);
        const auto found = samples.find(process.pid);
        return found == samples.end() ? TreeSample{} : found->second;
    }
    void forget(const ProcessIdentity& process) override { forgotten.push_back(process.pid); }

    std::map<std::int32_t, TreeSample> samples;
    std::vector<std::pair<std::int32_t, SteadyTime>> looks;
    std::vector<std::int32_t> forgotten;
    int rounds = 0;
};

class ActivitySamplerTest : public ::testing::Test {
  protected:
    static ProcessId id(std::int32_t pid) {
        return ProcessId::from_bits(static_cast<std::uint64_t>(pid));
    }
    static ProcessIdentity process(std::int32_t pid) {
        ProcessIdentity identity;
        identity.pid = pid;
        identity.start_ticks = 1;
        return identity;
    }
    void add(std::int32_t pid, std::size_t members = 1) {
        auto& sample = source_.samples[pid];
        sample.sight = TreeSample::Sight::seen;
        sample.sockets.emplace();
        for (std::size_t i = 0; i < members; ++i) {
            sample.members.push_back({.pid = pid, .start_ticks = i});
        }
        sampler_.add(id(pid), process(pid), {.activity = ProcessActivity::working, .since = noon});
    }
    /// As a thread would that sleeps until the next step.
    void run(std::chrono::nanoseconds duration) {
        const auto end = now_.steady + duration;
        for (;;) {
            const auto next = sampler_.next_step();
            if (!next || *next > end) break;
            advance(*next);
            for (auto& finding : sampler_.step(now_)) findings_.push_back(std::move(finding));
        }
        advance(end);
    }
    void advance(SteadyTime to) {
        const auto passed = std::max<std::chrono::nanoseconds>(to - now_.steady, 0ns);
        now_.steady += passed;
        now_.boot += passed;
        now_.wall =
            noon + std::chrono::floor<std::chrono::milliseconds>(now_.steady - SteadyTime{1h});
    }
    std::size_t looks_at(std::int32_t pid) const {
        return static_cast<std::size_t>(
            std::ranges::count(source_.looks, pid, [](const auto& look) { return look.first; }));
    }

    InventedSource source_;
    ActivitySampler sampler_{source_};
    Now now_{.wall = noon, .steady = SteadyTime{1h}, .boot = SteadyTime{1h}};
    std::vector<ActivitySampler::Finding> findings_;
};

TEST_F(ActivitySamplerTest, WithNobodyThereIsNoStep) {
    EXPECT_FALSE(sampler_.next_step());
    EXPECT_THAT(sampler_.step(now_), IsEmpty());
    EXPECT_EQ(source_.rounds, 0);
}

TEST_F(ActivitySamplerTest, LooksOftenAtTheBusyAndSeldomAtTheIdle) {
    add(1);
    add(2);
    for (int second = 0; second < 600; ++second) {
        source_.samples[1].cpu += 500ms;
        run(1s);
    }
    EXPECT_GE(looks_at(1), 290U);
    EXPECT_LE(looks_at(1), 350U);
    EXPECT_GE(looks_at(2), 30U + 18U);
    EXPECT_LE(looks_at(2), 35U + 26U);

    source_.looks.clear();
    source_.samples[2].cpu += 10s;  // within the half minute to its next look
    run(30s);
    ASSERT_EQ(sampler_.facts(id(2))->activity, ProcessActivity::working);
    EXPECT_GE(looks_at(2), 1U);
    run(10s);
    EXPECT_GE(looks_at(2), 5U) << "often again";
}

TEST_F(ActivitySamplerTest, TellsAClassAndStalenessOnceEach) {
    add(1);
    run(40min);

    ASSERT_EQ(findings_.size(), 2U);
    EXPECT_EQ(findings_[0].id, id(1));
    EXPECT_EQ(findings_[0].facts.activity, ProcessActivity::waiting);
    EXPECT_LE(findings_[0].facts.since, noon + 2s) << "it did nothing from the beginning";
    EXPECT_TRUE(findings_[0].changed);
    EXPECT_FALSE(findings_[0].stale);
    EXPECT_FALSE(findings_[1].changed);
    EXPECT_TRUE(findings_[1].stale);

    findings_.clear();
    source_.samples[1].cpu += 10s;
    run(30s);
    ASSERT_EQ(findings_.size(), 1U);
    EXPECT_EQ(findings_[0].facts.activity, ProcessActivity::working);
    EXPECT_FALSE(findings_[0].stale);
}

TEST_F(ActivitySamplerTest, WhenOneIsStaleCanBeSetAnew) {
    sampler_.set_stale_after(2h);
    add(1);
    run(40min);
    ASSERT_EQ(findings_.size(), 1U) << "only that it waits";

    sampler_.set_stale_after(30min);
    run(1min);
    ASSERT_EQ(findings_.size(), 2U) << "it had done nothing for longer than that";
    EXPECT_TRUE(findings_[1].stale);

    sampler_.set_stale_after(2h);
    run(1min);
    ASSERT_EQ(findings_.size(), 3U);
    EXPECT_FALSE(findings_[2].stale);
    run(2h);
    ASSERT_EQ(findings_.size(), 4U);
    EXPECT_TRUE(findings_[3].stale);
}

TEST_F(ActivitySamplerTest, RemembersWhoWasInTheTreeAndWhoLeftIt) {
    EXPECT_THAT(sampler_.members(id(1)), IsEmpty());
    add(1, 2);
    source_.samples[1].escaped = {{.pid = 7, .start_ticks = 3}};
    run(3s);
    const std::vector<TreeMember> all{
        {.pid = 1, .start_ticks = 0}, {.pid = 1, .start_ticks = 1}, {.pid = 7, .start_ticks = 3}};
    EXPECT_EQ(sampler_.members(id(1)), all);
    source_.samples[1].sight = TreeSample::Sight::hidden;
    run(3s);
    source_.samples.erase(1);
    run(1min);
    EXPECT_EQ(sampler_.members(id(1)), all) << "until it is removed";
    sampler_.remove(id(1));
    EXPECT_THAT(sampler_.members(id(1)), IsEmpty());
}

TEST_F(ActivitySamplerTest, WhatIsOnRecordIsNotToldAgain) {
    add(1);
    sampler_.add(id(1), process(1), {.activity = ProcessActivity::waiting, .since = noon - 2h},
                 /*stale=*/true);
    run(10min);

    EXPECT_THAT(findings_, IsEmpty());
    EXPECT_EQ(sampler_.facts(id(1))->since, noon - 2h);
}

TEST_F(ActivitySamplerTest, FindsNothingAboutTheGoneOrWhoHasTheirPid) {
    add(1);
    run(10s);
    const auto last = sampler_.facts(id(1));
    source_.samples.erase(1);
    run(1h);

    EXPECT_THAT(findings_, IsEmpty());
    EXPECT_EQ(sampler_.facts(id(1)), last) << "until it is removed";
}

TEST_F(ActivitySamplerTest, ForgetsWhoIsRemoved) {
    add(1);
    run(10s);
    sampler_.remove(id(1));
    sampler_.remove(id(7));
    EXPECT_FALSE(sampler_.facts(id(1)));
    EXPECT_FALSE(sampler_.next_step());
    source_.looks.clear();
    run(1min);
    sampler_.step(now_);

    EXPECT_THAT(source_.looks, IsEmpty());
    EXPECT_THAT(source_.forgotten, ElementsAre(1));
    EXPECT_FALSE(sampler_.facts(id(1)));
}

TEST_F(ActivitySamplerTest, OneThatIsAddedAgainBeginsAnew) {
    add(1);
    run(2min);
    ASSERT_EQ(sampler_.facts(id(1))->activity, ProcessActivity::waiting);
    source_.samples[2] = source_.samples[1];
    sampler_.add(id(1), process(2), {.activity = ProcessActivity::working, .since = now_.wall});
    EXPECT_EQ(sampler_.facts(id(1))->activity, ProcessActivity::working);
    source_.looks.clear();
    run(10s);

    EXPECT_EQ(looks_at(1), 0U);
    EXPECT_GE(looks_at(2), 4U);
    EXPECT_THAT(source_.forgotten, ElementsAre(1));
}

TEST_F(ActivitySamplerTest, HasABoundOnTheLooksOfASecond) {
    constexpr int many = 2000;
    for (int pid = 1; pid <= many; ++pid) add(pid);
    run(1s);
    constexpr auto a_second = 10 * ActivitySampler::step_looks_max;
    EXPECT_LE(source_.looks.size(), a_second + 2 * ActivitySampler::step_looks_max);
    EXPECT_GE(source_.looks.size(), a_second);
    run(7s);
    for (int pid = 1; pid <= many; ++pid) ASSERT_GE(looks_at(pid), 1U) << "each has its turn";
}

TEST_F(ActivitySamplerTest, MoreStepsAreNotMoreLooks) {
    for (int pid = 1; pid <= 500; ++pid) add(pid);
    for (int i = 0; i < 100; ++i) {
        sampler_.step(now_);
        advance(now_.steady + 1ms);
    }

    EXPECT_EQ(source_.looks.size(), ActivitySampler::step_looks_max);
}

TEST_F(ActivitySamplerTest, ALargeTreeWaitsLonger) {
    add(1, 512);
    add(2);
    run(26s);

    EXPECT_LE(looks_at(1), 3U);
    EXPECT_GE(looks_at(2), 12U);
}

TEST_F(ActivitySamplerTest, SpreadsTheIdle) {
    constexpr int many = 1000;
    for (int pid = 1; pid <= many; ++pid) add(pid);
    run(10min);
    std::size_t most = 0;
    for (int second = 0; second < 30; ++second) {
        source_.looks.clear();
        run(1s);
        most = std::max(most, source_.looks.size());
    }

    EXPECT_LE(most, 150U) << "33 if they were spread evenly";
}

}  // namespace
}  // namespace knell
