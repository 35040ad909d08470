// When a crowd of leases falls due at once the fault is ours or the network's: held, then reaped.

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class MassExpiry : public StoreStory {
  protected:
    /// `count` leases of 10 s from now on, l0, l1, ...; and `others` that hold for an hour.
    void open(int count, int others = 0, Now now = at(0)) {
        std::vector<Input> inputs;
        for (int i = 0; i < count; ++i) {
            inputs.emplace_back(create(fmt::format("l{}", i), lease_owner(10s)));
        }
        for (int i = 0; i < others; ++i) {
            inputs.emplace_back(create(fmt::format("o{}", i), lease_owner(3600s)));
        }
        journal().group(std::move(inputs), now);
    }
    std::size_t ended() const { return told_ends_; }
    std::size_t uncertain() { return journal().state.count(Status::unknown); }
    Journal::Step tick(double seconds) {
        auto now = at(0);
        const auto passed = std::chrono::duration<double>{seconds};
        now.steady += std::chrono::duration_cast<std::chrono::nanoseconds>(passed);
        now.boot = now.steady;
        now.wall += std::chrono::duration_cast<std::chrono::milliseconds>(passed);
        auto step = journal().tick(now);
        for (const auto& event : step.automatic()) told_ends_ += event.end ? 1U : 0U;
        return step;
    }

    std::size_t told_ends_ = 0;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, MassExpiry, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(MassExpiry, IsHeldForOneMoreTermAndSaysSo) {
    open(20);

    const auto step = tick(10.05);

    EXPECT_EQ(ended(), 0U);
    EXPECT_EQ(uncertain(), 20U);
    ASSERT_EQ(step.automatic().size(), 20U);
    EXPECT_EQ(step.automatic()[0].type, EventType::session_unknown);
    EXPECT_NE(step.automatic()[0].detail.find("more than half of all leases"), std::string::npos);
    EXPECT_EQ(told(EventType::session_unknown).size(), 20U);
    EXPECT_EQ(status_of(shown("l3")), Status::unknown);
    EXPECT_TRUE(shown("l3").unknown_since);

    tick(20.0);
    EXPECT_EQ(ended(), 0U);
    tick(20.2);
    EXPECT_EQ(ended(), 20U);
    EXPECT_EQ(shown("l3").end->reason, Reason::reaped);
    EXPECT_EQ(shown("l3").end->ended_after, at(0).wall);
    EXPECT_NE(shown("l3").end->evidence.find("held for one more TTL"), std::string::npos);
    EXPECT_EQ(told(EventType::session_unknown).size(), 20U);
}

TEST_P(MassExpiry, ARenewalMakesItCertain) {
    open(20);
    tick(10.05);
    journal().one(beat("l3"), at(15));

    EXPECT_EQ(status_of(shown("l3")), Status::idle);
    EXPECT_FALSE(shown("l3").unknown_since);
    tick(20.2);
    EXPECT_EQ(ended(), 19U);
    EXPECT_FALSE(shown("l3").end);
    tick(25.1);
    EXPECT_EQ(shown("l3").end->ended_after, at(15).wall);
}

TEST_P(MassExpiry, NineteenAreTooFewForSuspicion) {
    open(19);
    tick(10.05);

    EXPECT_EQ(ended(), 19U);
    EXPECT_EQ(told(EventType::session_unknown).size(), 0U);
}

TEST_P(MassExpiry, ExactlyHalfIsNoCrowd) {
    open(20, 20);
    tick(10.05);

    EXPECT_EQ(ended(), 20U);
}

TEST_P(MassExpiry, OneMoreThanHalfIs) {
    open(21, 20);
    tick(10.05);

    EXPECT_EQ(ended(), 0U);
    EXPECT_EQ(uncertain(), 21U);
}

TEST_P(MassExpiry, ACrowdMayFallWithinASecond) {
    for (int i = 0; i < 30; ++i) {
        auto now = at(0);
        now.steady += i * 30ms;
        journal().one(create(fmt::format("l{}", i), lease_owner(10s)), now);
    }
    for (double late = 10.02; late < 11.0; late += 0.05) tick(late);

    EXPECT_EQ(ended(), 0U);
    EXPECT_EQ(uncertain(), 30U);
}

TEST_P(MassExpiry, ATrickleIsNoCrowd) {
    for (int i = 0; i < 30; ++i) {
        auto now = at(i);
        journal().one(create(fmt::format("l{}", i), lease_owner(60s)), now);
    }
    for (double late = 60; late < 92; late += 0.05) tick(late);

    // The last few are, among the few that are left, but then they are fewer than twenty.
    EXPECT_EQ(ended(), 30U);
}

TEST_P(MassExpiry, AHeldCrowdThatComesBackIsNotSuspectedForEver) {
    open(30);
    tick(10.05);
    Heartbeat all;
    for (int i = 0; i < 30; ++i) all.beats.push_back({SessionId(fmt::format("l{}", i)), 1});
    journal().one(all, at(12));
    EXPECT_EQ(uncertain(), 0U);

    tick(22.1);
    EXPECT_EQ(uncertain(), 30U) << "it may happen again";
    tick(32.3);
    EXPECT_EQ(ended(), 30U);
}

TEST_P(MassExpiry, ALargeCrowdIsHeldToItsLastEvenIfThatTakesLong) {
    constexpr int crowd = 3000;  // three transactions
    open(crowd, 100);
    auto now = at(10);
    std::size_t ends = 0;
    do {
        // A slow disk: each transaction takes most of a second.
        now.steady += 700ms;
        now.wall += 700ms;
        for (const auto& event : journal().journal.commit({}, now).automatic()) {
            ends += event.end ? 1U : 0U;
        }
    } while (journal().journal.has_work_left());

    EXPECT_EQ(ends, 0U);
    EXPECT_EQ(uncertain(), static_cast<std::size_t>(crowd));
}

TEST_P(MassExpiry, ARestartKeepsItUnknownAndGivesAFullTerm) {
    open(20);
    tick(10.05);
    restart(at(11));
    EXPECT_EQ(uncertain(), 20U);
    tick(20.9);
    EXPECT_EQ(ended(), 0U);
    tick(21.1);

    EXPECT_EQ(ended(), 20U);
}

}  // namespace
}  // namespace knell::testing
