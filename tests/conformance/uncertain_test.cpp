// Unknown and stalled: answers, on which nothing is ever ended.

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t year = 365 * 24 * 3600;

class Uncertain : public StoreStory {
  protected:
    Uncertain() {
        journal().group({create("a", process_owner(5)), create("b", process_owner(5))}, at(0));
    }
    Status status(const std::string& id) { return status_of(shown(id)); }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Uncertain, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Uncertain, AnOwnerThatCannotBeCheckedMakesItsSessionsUnknown) {
    journal().one(unknown(5, "another pid namespace"), at(10));

    EXPECT_EQ(status("a"), Status::unknown);
    EXPECT_EQ(shown("b").unknown_since, at(10).wall);
    const auto events = told(EventType::session_unknown);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].detail, "another pid namespace");
    EXPECT_EQ(journal().state.count(Status::unknown), 2U);
}

TEST_P(Uncertain, ToldAgainItIsOldNews) {
    journal().one(unknown(5), at(10));
    journal().one(unknown(5), at(20));

    EXPECT_EQ(shown("a").unknown_since, at(10).wall);
    EXPECT_EQ(told(EventType::session_unknown).size(), 2U);
}

TEST_P(Uncertain, TimeEndsNothing) {
    journal().one(unknown(5), at(10));
    for (int years = 1; years < 100; ++years) journal().tick(at(years * year));
    restart(at(100 * year));
    journal().tick(at(101 * year));

    EXPECT_EQ(status("a"), Status::unknown);
    EXPECT_EQ(journal().state.count(Status::unknown), 2U);
}

TEST_P(Uncertain, TheWatchDoesNotVouchForWhomItCannotCheck) {
    auto command = create("c", process_owner(6));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command, at(1));
    journal().one(unknown(6), at(10));
    journal().state.set_watched_until(at(60).boot);
    journal().state.vouch();

    journal().one(close("c", 1, Reason::exited), at(61));

    EXPECT_EQ(shown("c").end->ended_after, at(1).wall);
    EXPECT_EQ(shown("c").end->ended_before, at(61).wall);
}

/// Whoever writes or beats speaks for the session; that its process is watched they cannot know.
TEST_P(Uncertain, OnlyALookAtTheProcessClearsIt) {
    journal().one(unknown(5), at(10));
    for (const Input& sign :
         {Input{append("a", 1, {"x"})}, Input{beat("a")}, Input{turn("a", 1, true)},
          Input{turn("a", 1, false)}, Input{turn("a", 1, false)}}) {
        ASSERT_TRUE(journal().one(sign, at(20)));
        EXPECT_EQ(status("a"), Status::unknown) << "command " << sign.index();
    }

    journal().one(alive(5), at(21));

    EXPECT_EQ(status("a"), Status::idle);
    EXPECT_EQ(status("b"), Status::idle);
}

TEST_P(Uncertain, EvidenceOfDeathEndsIt) {
    journal().one(unknown(5), at(10));
    journal().one(gone(5, lost()), at(20));

    EXPECT_EQ(shown("a").end->reason, Reason::owner_lost);
    EXPECT_FALSE(shown("a").unknown_since);
}

TEST_P(Uncertain, APersonMayEndOrTakeWhatIsUnknown) {
    journal().one(unknown(5), at(10));
    EXPECT_EQ(journal().one(resume("a"), at(11)).error().code, ErrorCode::owned);
    EXPECT_EQ(std::get<OwnedBy>(journal().one(resume("a"), at(11)).error().facts).how_known,
              "cannot be checked");

    EXPECT_TRUE(journal().one(resume("a", /*takeover=*/true), at(12)));
    EXPECT_TRUE(journal().one(close("b"), at(12)));

    EXPECT_EQ(status("a"), Status::idle);
    EXPECT_EQ(shown("b").end->reason, Reason::completed);
}

// --- a process that also promised signs of progress ----------------------------------------------

class Stalled : public Uncertain {
  protected:
    Stalled() {
        auto owner = process_owner(7);
        owner.lease_ttl = 10s;
        journal().one(create("s", owner), at(0));
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Stalled, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Stalled, LateButProvablyAlive) {
    const auto step = journal().tick(at(11));

    EXPECT_EQ(status("s"), Status::stalled);
    EXPECT_EQ(shown("s").stalled_since, at(11).wall);
    ASSERT_EQ(step.automatic().size(), 1U);
    EXPECT_EQ(step.automatic()[0].type, EventType::session_stalled);
    journal().tick(at(50 * year));
    EXPECT_EQ(status("s"), Status::stalled);
    EXPECT_EQ(told(EventType::session_stalled).size(), 1U);
}

TEST_P(Stalled, ProgressClearsItAndItMayStallAgain) {
    journal().tick(at(11));
    journal().one(beat("s"), at(20));
    EXPECT_EQ(status("s"), Status::idle);
    journal().tick(at(29));
    EXPECT_EQ(status("s"), Status::idle);

    journal().tick(at(31));

    EXPECT_EQ(status("s"), Status::stalled);
    EXPECT_EQ(told(EventType::session_stalled).size(), 2U);
}

TEST_P(Stalled, DeathStillEndsIt) {
    journal().tick(at(11));
    journal().one(gone(7, exited(1)), at(20));

    EXPECT_EQ(shown("s").end->reason, Reason::exited);
}

TEST_P(Stalled, NobodyClaimsThatAnUncheckedProcessIsAlive) {
    journal().one(unknown(7), at(1));
    journal().tick(at(1000));

    EXPECT_EQ(status("s"), Status::unknown);
    EXPECT_FALSE(shown("s").stalled_since);
    journal().one(alive(7), at(1001));
    journal().tick(at(1010));
    EXPECT_EQ(status("s"), Status::idle);
    journal().tick(at(1012));
    EXPECT_EQ(status("s"), Status::stalled);
}

TEST_P(Stalled, IsNoLeaseOfTheCensus) {
    EXPECT_EQ(journal().state.lease_count(), 0U);
}

}  // namespace
}  // namespace knell::testing
