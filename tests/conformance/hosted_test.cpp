// Hosted: the daemon keeps a session for clients that come and go, and ends it when nothing holds
// it for its window.

#include <gmock/gmock.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Hosted : public StoreStory {
  protected:
    Hosted() { journal().one(create("a", hosted_owner(60s)), at(0)); }

    bool is_open() { return !shown("a").end; }
    /// Events of the session, without its start.
    std::vector<EventType> told_of_it() {
        std::vector<EventType> types;
        for (const auto& event : reader().events({.limit = 1000})->events) {
            const bool is_start = event.type == EventType::session_start;
            if (event.session_id.text() == "a" && !is_start) types.push_back(event.type);
        }
        return types;
    }
    /// As a daemon does that starts.
    void start_again(Now now) {
        restart(now);
        journal().one(ClientsGone{}, now);
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Hosted, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Hosted, EndsWhenNothingHoldsItForItsWindow) {
    EXPECT_EQ(status_of(shown("a")), Status::detached);
    journal().tick(at(59));
    EXPECT_TRUE(is_open());

    journal().tick(at(61));

    const auto session = shown("a");
    ASSERT_TRUE(session.end);
    EXPECT_EQ(session.end->reason, Reason::detached_expiry);
    EXPECT_EQ(session.end->proof, Proof::policy);
    EXPECT_EQ(session.end->ended_at, at(61).wall);
}

TEST_P(Hosted, AnyCallThatNamesItBeginsItsWindowAnew) {
    journal().one(Named{SessionId("a")}, at(50));
    journal().one(append("a", 1, {"hello"}), at(100));
    journal().one(beat("a"), at(150));
    auto again = resume("a");
    again.owner = hosted_owner(5s);
    const auto resumed = journal().one(std::move(again), at(200));
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(std::get<OpenedReply>(*resumed).generation, 1U) << "it changed hands";

    journal().tick(at(259));
    EXPECT_TRUE(is_open());
    journal().tick(at(261));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, AClientThatLooksAtItHoldsIt) {
    journal().one(attach("a", 1), at(10));
    journal().one(attach("a", 2), at(11));
    journal().one(detach("a", 1), at(12));
    journal().tick(at(100'000));
    EXPECT_EQ(status_of(shown("a")), Status::attached);
    EXPECT_FALSE(shown("a").detached_since);

    journal().one(client_gone("a", 2), at(100'001));

    EXPECT_EQ(shown("a").detached_since, at(100'001).wall);
    journal().tick(at(100'060));
    EXPECT_TRUE(is_open());
    journal().tick(at(100'062));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, AnAttachAtTheLastMomentFindsItAliveOrIsToldThatItEnded) {
    // Decided before what falls due in the same step.
    ASSERT_TRUE(journal().one(attach("a", 1), at(61)));
    EXPECT_TRUE(is_open());

    journal().one(detach("a", 1), at(62));
    journal().tick(at(68));  // that is told
    journal().tick(at(123));
    const auto late = journal().one(attach("a", 1), at(123));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::ended);
    EXPECT_EQ(shown("a").attached, 0);
}

TEST_P(Hosted, TheFirstThatComesAndTheLastThatIsGoneForAWhileAreTold) {
    journal().one(attach("a", 1), at(1));
    journal().one(attach("a", 2), at(2));
    journal().one(attach("a", 2), at(2));
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach));

    // A page is loaded anew.
    journal().one(detach("a", 1), at(3));
    journal().one(client_gone("a", 2), at(10));
    journal().tick(at(14));
    journal().one(attach("a", 3), at(14));
    journal().tick(at(30));
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach));

    journal().one(client_gone("a", 3), at(31));
    journal().tick(at(35));
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach));
    journal().tick(at(37));
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach, EventType::session_detach));
    EXPECT_EQ(shown("a").detached_since, at(31).wall) << "it counts from when it was told";
    journal().tick(at(92));
    EXPECT_FALSE(is_open()) << "its window counts from when it was told";
}

TEST_P(Hosted, ATurnHoldsItWhileItsClientIsThereAndThenForAWhile) {
    journal().one(turn_of("a", /*client=*/1, /*window=*/600s), at(10));
    journal().tick(at(50'000));
    EXPECT_EQ(status_of(shown("a")), Status::running);

    journal().one(client_gone("a", 1), at(50'001));
    journal().one(append("a", 1, {"done soon"}), at(50'300));
    journal().tick(at(50'899));
    EXPECT_EQ(status_of(shown("a")), Status::running);
    journal().tick(at(50'901));
    EXPECT_EQ(status_of(shown("a")), Status::stalled);
    journal().tick(at(50'960));
    EXPECT_TRUE(is_open());
    journal().tick(at(50'962));
    EXPECT_FALSE(is_open());
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::agent_start, EventType::session_stalled,
                                          EventType::agent_end, EventType::session_end));
}

TEST_P(Hosted, WhoComesBackToItsTurnHoldsItAgain) {
    journal().one(turn_of("a", 1, 100s), at(10));
    journal().one(client_gone("a", 1), at(20));

    const auto again = journal().one(turn_of("a", 2, 100s), at(30));

    EXPECT_FALSE(std::get<TurnReply>(*again).changed);
    EXPECT_EQ(shown("a").turn_since, at(10).wall);
    journal().tick(at(5'000));
    EXPECT_EQ(status_of(shown("a")), Status::running);
    EXPECT_EQ(told(EventType::agent_start).size(), 1U);
}

TEST_P(Hosted, ATurnIsHeldByEachWhoSaysThatItIsOn) {
    journal().one(turn_of("a", 1, 100s), at(10));
    journal().one(turn_of("a", 2, 100s), at(20));

    journal().one(client_gone("a", 2), at(30));
    journal().tick(at(5'000));
    EXPECT_EQ(status_of(shown("a")), Status::running) << "the one who began it is there";

    journal().one(turn_of("a", 3, 100s), at(5'001));
    journal().one(client_gone("a", 1), at(5'002));
    journal().tick(at(9'000));
    EXPECT_EQ(status_of(shown("a")), Status::running) << "and so is the third";

    journal().one(client_gone("a", 3), at(9'001));
    journal().tick(at(9'102));
    EXPECT_EQ(status_of(shown("a")), Status::stalled);
}

TEST_P(Hosted, AStalledTurnIsTakenUpAgainByAnyWord) {
    journal().one(turn_of("a", 1, 100s), at(10));
    journal().one(client_gone("a", 1), at(20));
    journal().tick(at(121));
    ASSERT_EQ(status_of(shown("a")), Status::stalled);

    journal().one(append("a", 1, {"here I am"}), at(130));

    journal().tick(at(229));
    EXPECT_EQ(status_of(shown("a")), Status::running);
}

TEST_P(Hosted, AfterATurnItIsIdleFromThereOn) {
    journal().one(turn_of("a", 1), at(10));
    journal().one(turn("a", 1, false), at(40));

    EXPECT_EQ(shown("a").detached_since, at(40).wall);
    journal().tick(at(99));
    EXPECT_TRUE(is_open());
    journal().tick(at(101));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, DropsOutOfWhatIsLiveAfterAGrace) {
    journal().one(create("p"), at(0));
    const auto live = [&](Now now, std::string_view current = "") {
        return listed({.ended = false,
                       .all = true,
                       .limit = 10,
                       .live_at = now.wall,
                       .current = SessionId(std::string(current))});
    };
    EXPECT_THAT(live(at(29)), ElementsAre("p", "a"));
    EXPECT_THAT(live(at(31)), ElementsAre("p"));
    EXPECT_THAT(live(at(31), "a"), ElementsAre("p", "a"));
    journal().one(attach("a", 1), at(40));
    EXPECT_THAT(live(at(41)), ElementsAre("p", "a"));
}

TEST_P(Hosted, ADaemonThatStartsKnowsNoClientsAndGivesTheWindowAnew) {
    journal().one(attach("a", 1), at(1));
    journal().tick(at(1'000));

    start_again(at(2'000));

    EXPECT_EQ(shown("a").attached, 0);
    EXPECT_EQ(shown("a").detached_since, at(2'000).wall);
    journal().tick(at(2'004));
    journal().one(attach("a", 1), at(2'004));
    journal().tick(at(2'500));
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach)) << "there is a seam";
    journal().one(client_gone("a", 1), at(2'501));
    journal().tick(at(2'560));
    EXPECT_TRUE(is_open());
    journal().tick(at(2'562));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, ADaemonThatStartsTellsOfThoseThatDoNotComeBack) {
    journal().one(attach("a", 1), at(1));
    journal().one(detach("a", 1), at(2));
    start_again(at(4));
    journal().tick(at(8));
    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach));

    journal().tick(at(10));

    EXPECT_THAT(told_of_it(), ElementsAre(EventType::session_attach, EventType::session_detach));
    EXPECT_EQ(shown("a").detached_since, at(2).wall);
}

TEST_P(Hosted, StartsOverAndOverDoNotKeepItForEver) {
    for (int start = 1; start < 10; ++start) {
        start_again(at(start * 20));
        journal().tick(at(start * 20 + 15));
    }
    EXPECT_FALSE(is_open());
}

/// Nothing of these begins its time anew but that it was named.
TEST_P(Hosted, WhoSuspendsItOrBranchesOffItNamesItToo) {
    journal().one(Suspend{{SessionId("a"), ""}, "stuck", "the test"}, at(50));
    journal().tick(at(109));
    EXPECT_TRUE(is_open());
    Branch branch{SessionId("a"), 1, SessionId("b"), /*keep_open=*/true};
    EXPECT_TRUE(journal().one(std::move(branch), at(109)));
    journal().tick(at(168));
    EXPECT_TRUE(is_open());
    journal().tick(at(170));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, WhatNamedItBeforeARestartIsNotForgotten) {
    start_again(at(30));
    journal().one(Named{SessionId("a")}, at(80));
    start_again(at(100));
    journal().tick(at(159));
    EXPECT_TRUE(is_open());
    journal().tick(at(161));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, AStallKeepsItsWindowOverARestart) {
    journal().one(turn_of("a", 1, 100s), at(10));
    journal().one(client_gone("a", 1), at(20));
    start_again(at(30));
    journal().tick(at(30 + 6 * 3600 + 1));
    ASSERT_EQ(status_of(shown("a")), Status::stalled);

    start_again(at(22'000));

    journal().tick(at(22'059));
    EXPECT_TRUE(is_open());
    journal().tick(at(22'061));
    EXPECT_FALSE(is_open());
}

TEST_P(Hosted, ItsEndSaysSinceWhenNobodyLookedAtIt) {
    journal().one(attach("a", 1), at(5));
    journal().one(client_gone("a", 1), at(500));
    journal().tick(at(506));
    journal().tick(at(561));
    ASSERT_FALSE(is_open());
    EXPECT_THAT(shown("a").end->evidence,
                HasSubstr("no client looked at it after " + format_rfc3339(at(500).wall)));
}

TEST_P(Hosted, WhoLooksAtItStaysWhenItChangesHands) {
    journal().one(attach("a", 1), at(1));
    const auto taken = journal().one(resume("a", /*takeover=*/true), at(2));
    EXPECT_EQ(std::get<OpenedReply>(*taken).status, Status::attached);
    EXPECT_EQ(shown("a").attached, 1);
    EXPECT_EQ(shown("a").owner.kind, OwnerKind::process);

    journal().one(client_gone("a", 1), at(3));
    journal().tick(at(100));
    EXPECT_TRUE(is_open()) << "it has an owner that lives";
    EXPECT_EQ(told(EventType::session_detach).size(), 1U);
}

TEST_P(Hosted, ItsEndLetsGoOfItsClients) {
    journal().one(attach("a", 1), at(1));
    const auto step = journal().step({close("a")}, at(2));
    EXPECT_EQ(std::ranges::count_if(step.effects,
                                    [](const Effect& effect) {
                                        return std::holds_alternative<ReleaseClients>(effect);
                                    }),
              1);
    EXPECT_EQ(shown("a").attached, 0);
    EXPECT_FALSE(shown("a").attach_told);

    auto again = resume("a");
    again.owner = hosted_owner(60s);
    journal().one(std::move(again), at(3));
    EXPECT_EQ(shown("a").detached_since, at(3).wall);
    journal().one(attach("a", 1), at(4));
    EXPECT_EQ(told(EventType::session_attach).size(), 2U);
}

TEST_P(Hosted, AProcessThatIsLookedAtEndsByItsOwnReasons) {
    journal().one(create("p", process_owner(7)), at(0));
    journal().one(create("l", lease_owner(45s)), at(0));
    for (const auto* id : {"p", "l"}) {
        journal().one(attach(id, 1), at(1));
        EXPECT_EQ(status_of(shown(id)), Status::attached);
        journal().one(detach(id, 1), at(20));
        EXPECT_FALSE(shown(id).detached_since);
    }
    journal().tick(at(44));
    EXPECT_FALSE(shown("l").end);
    journal().tick(at(46));
    EXPECT_TRUE(shown("l").end) << "a look renewed its lease";
    journal().tick(at(100'000));
    EXPECT_FALSE(shown("p").end);
    journal().one(attach("p", 1), at(100'001));
    journal().one(gone(7, exited(0)), at(100'002));
    EXPECT_TRUE(shown("p").end) << "a client kept it";
}

TEST_P(Hosted, ACrowdOfThemIsNotHeld) {
    for (int i = 0; i < 30; ++i) {
        journal().one(create("h" + std::to_string(i), hosted_owner(60s)), at(0));
    }
    journal().tick(at(61));
    EXPECT_EQ(journal().state.open_count(), 0U);
}

TEST_P(Hosted, MoreClientsThanMayLookAtItAreRefused) {
    const auto most = static_cast<int>(limits::clients_per_session_max);
    std::vector<Input> all;
    for (int i = 1; i <= most; ++i) all.emplace_back(attach("a", i));
    journal().group(std::move(all), at(1));
    EXPECT_EQ(shown("a").attached, most);

    EXPECT_EQ(journal().one(attach("a", most + 1), at(2)).error().code, ErrorCode::limit);
    EXPECT_TRUE(journal().one(attach("a", most), at(2)));
    EXPECT_EQ(journal().one(attach("never", 1), at(2)).error().code, ErrorCode::not_found);
    EXPECT_EQ(journal().one(detach("never", 1), at(2)).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace knell::testing
