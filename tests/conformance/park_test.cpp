// Parked: the owner is gone, and the next one may claim the session for a while.

#include <csignal>

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class Park : public StoreStory {
  protected:
    Park() { journal().one(parking("a"), at(0)); }
    static Create parking(std::string id) {
        auto command = create(std::move(id), process_owner(5));
        command.draft.on_owner_loss = OnOwnerLoss::park;
        command.draft.park_window = 300s;
        return command;
    }
    void lose_owner(Now now, Departure departure = signaled(SIGKILL)) {
        journal().one(gone(5, std::move(departure)), now);
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Park, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Park, ASessionOutlivesItsOwner) {
    journal().one(turn("a", 1, true), at(1));
    lose_owner(at(10));

    const auto session = shown("a");
    EXPECT_FALSE(session.end);
    EXPECT_EQ(session.parked_since, at(10).wall);
    EXPECT_EQ(status_of(session), Status::detached);
    EXPECT_EQ(session.generation, 1U);
    EXPECT_FALSE(session.turn_since);
    EXPECT_EQ(told(EventType::session_end).size(), 0U);
    EXPECT_EQ(told(EventType::agent_end).size(), 1U);
}

TEST_P(Park, TheNextOwnerClaimsItWithoutATakeover) {
    lose_owner(at(10));

    const auto claimed = journal().one(resume("a"), at(20));

    ASSERT_TRUE(claimed) << claimed.error().message;
    EXPECT_EQ(std::get<OpenedReply>(*claimed).generation, 2U);
    const auto session = shown("a");
    EXPECT_FALSE(session.parked_since);
    EXPECT_EQ(session.owner.process.pid, 200);
    const auto ends = told(EventType::session_end);
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].end->reason, Reason::superseded);
    EXPECT_EQ(ends[0].end->detail, "claimed");
    EXPECT_EQ(ends[0].generation, 1U);
    journal().tick(at(100'000));
    EXPECT_FALSE(shown("a").end) << "the window is over, but the session was claimed";
    EXPECT_EQ(journal().one(append("a", 1, {"late"}), at(100'001)).error().code, ErrorCode::fenced);
}

TEST_P(Park, TakesNoWriteUntilItIsClaimed) {
    lose_owner(at(10));

    for (Input input : {Input{append("a", 1, {"hello"})}, Input{turn("a", 1, true)}}) {
        const auto refused = journal().one(std::move(input), at(20));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::blocked);
        EXPECT_EQ(std::get<Unowned>(refused.error().facts).since, at(10).wall);
        EXPECT_NE(refused.error().message.find("session.resume"), std::string::npos);
    }
    const auto beaten = journal().one(beat("a"), at(21));
    EXPECT_EQ(std::get<HeartbeatReply>(*beaten).fenced.size(), 1U);
    EXPECT_EQ(shown("a").tally.messages, 0);
    EXPECT_FALSE(shown("a").turn_since);

    journal().one(resume("a"), at(30));
    EXPECT_TRUE(journal().one(append("a", 2, {"hello"}), at(31)));
}

TEST_P(Park, TheWindowIsFullAgainAfterARestartButNotAfterEveryOne) {
    lose_owner(at(10));
    for (int start = 100; start <= 400; start += 100) {
        restart(at(start));
        journal().one(Announce{}, at(start));
        EXPECT_FALSE(shown("a").end) << start;
    }
    journal().tick(at(402));

    EXPECT_TRUE(shown("a").end);
}

TEST_P(Park, HowItsOwnerWentIsOnRecordUntilItIsClaimed) {
    auto departure = signaled(SIGKILL);
    departure.evidence = "seen through its pidfd";
    departure.last_look = at(8).boot;
    departure.seen_at = at(9).boot;
    lose_owner(at(10), departure);

    for (int start = 0; start < 2; ++start) {
        const auto session = shown("a");
        EXPECT_EQ(session.parked_since, at(8).wall);
        EXPECT_EQ(session.parked_before, at(9).wall);
        EXPECT_EQ(session.park_why, "signaled, signal 9 (SIGKILL): seen through its pidfd");
        restart(at(11));
    }
    journal().one(resume("a"), at(20));

    const auto ends = told(EventType::session_end);
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_EQ(ends[0].end->evidence,
              "session.resume by " + resume("a").said_by +
                  fmt::format("; it was parked: its owner went between {} and {} (signaled, signal "
                              "9 (SIGKILL): seen through its pidfd)",
                              format_rfc3339(at(8).wall), format_rfc3339(at(9).wall)));
    const auto session = shown("a");
    EXPECT_FALSE(session.parked_before);
    EXPECT_EQ(session.park_why, "") << "its next owner lives";
}

TEST_P(Park, EveryEndOfItSaysHowItsOwnerWent) {
    journal().one(parking("closed"), at(0));
    lose_owner(at(10), exited(3));
    journal().one(close("closed"), at(20));
    journal().tick(at(1000));

    for (const auto* id : {"a", "closed"}) {
        const auto session = shown(id);
        ASSERT_TRUE(session.end) << id;
        EXPECT_NE(session.end->evidence.find("(exited, exit 3"), std::string::npos)
            << session.end->evidence;
        EXPECT_FALSE(session.parked_before) << id;
        EXPECT_EQ(session.park_why, "") << id;
    }
    EXPECT_TRUE(shown("a").end->evidence.starts_with("nobody claimed it within 300 s"));
}

TEST_P(Park, WhatWasNotWrittenDownIsNotMadeUp) {
    lose_owner(at(10));
    auto row = shown("a");
    row.parked_before.reset();
    row.park_why.clear();
    // As a daemon left it that did not keep how owners went.
    journal().state.follow(row.id, &row);

    journal().one(close("a"), at(20));

    EXPECT_NE(shown("a").end->evidence.find("how it went is not on record"), std::string::npos);
}

TEST_P(Park, OfTwoClaimsOneWins) {
    lose_owner(at(10));
    auto other = resume("a");
    other.owner = process_owner(300);

    const auto replies = journal().group({resume("a"), other}, at(20));

    EXPECT_TRUE(replies[0]);
    ASSERT_FALSE(replies[1]);
    EXPECT_EQ(replies[1].error().code, ErrorCode::owned);
    EXPECT_EQ(shown("a").owner.process.pid, 200);
}

TEST_P(Park, UnclaimedItEndsWhenTheWindowIsOver) {
    lose_owner(at(10));
    journal().tick(at(310));
    EXPECT_FALSE(shown("a").end);

    journal().tick(at(311));

    const auto session = shown("a");
    ASSERT_TRUE(session.end);
    EXPECT_EQ(session.end->reason, Reason::owner_lost);
    EXPECT_EQ(session.end->detail, "park window over");
    EXPECT_EQ(session.end->ended_after, at(10).wall);
    EXPECT_EQ(session.end->ended_at, at(10).wall);
    EXPECT_EQ(session.end->ended_before, at(311).wall);
    EXPECT_FALSE(session.parked_since);
}

TEST_P(Park, ARestartGivesTheFullWindowAgain) {
    lose_owner(at(10));
    restart(at(1000));
    EXPECT_EQ(journal().state.count(Status::detached), 1U);
    journal().tick(at(1300));
    EXPECT_FALSE(shown("a").end);

    journal().tick(at(1301));

    EXPECT_EQ(shown("a").end->ended_after, at(10).wall);
}

TEST_P(Park, AnOwnerFoundGoneAtStartParksToo) {
    restart(at(50));
    lose_owner(at(50), lost());

    EXPECT_EQ(shown("a").parked_since, at(0).wall) << "it was last known to be there";
}

TEST_P(Park, ARestartOfTheHostEndsIt) {
    lose_owner(at(10), host_restarted());

    EXPECT_EQ(shown("a").end->reason, Reason::host_restart);
}

TEST_P(Park, ItMayBeClosedByAPerson) {
    lose_owner(at(10));
    journal().one(close("a"), at(11));

    EXPECT_EQ(shown("a").end->reason, Reason::completed);
    journal().tick(at(1000));
    EXPECT_EQ(told(EventType::session_end).size(), 1U);
}

TEST_P(Park, AClaimByALeaseRunsOnTheLease) {
    lose_owner(at(10));
    auto claim = resume("a");
    claim.owner = lease_owner(10s);
    journal().one(claim, at(20));
    journal().tick(at(30));
    EXPECT_FALSE(shown("a").end);

    journal().tick(at(31));

    EXPECT_EQ(shown("a").end->reason, Reason::reaped);
}

TEST_P(Park, WhatTheGatewayParkedItFindsAgainAndTheRestEnds) {
    std::vector<Input> inputs;
    for (int i = 0; i < 50; ++i) inputs.emplace_back(parking("s" + std::to_string(i)));
    journal().group(std::move(inputs), at(0));
    lose_owner(at(10));
    EXPECT_EQ(journal().state.count(Status::detached), 51U);
    for (int i = 0; i < 50; i += 2) {
        ASSERT_TRUE(journal().one(resume("s" + std::to_string(i)), at(20)));
    }
    journal().tick(at(1000));

    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(shown("s" + std::to_string(i)).end.has_value(), i % 2 == 1) << i;
    }
}

}  // namespace
}  // namespace knell::testing
