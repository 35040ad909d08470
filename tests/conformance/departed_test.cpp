// A command was seen to end, and its `knell run` has a moment to say how: nobody else may say
// otherwise meanwhile.

#include <csignal>

#include <gmock/gmock.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class Departing : public StoreStory {
  protected:
    Departing() {
        auto command = create("a", process_owner(5));
        command.draft.leftovers = LeftoversPolicy::report;
        journal().one(command, at(0));
        auto killed = signaled(SIGKILL);
        killed.last_look = at(9).boot;
        killed.seen_at = at(10).boot;
        const auto step = journal().step({gone(5, killed)}, at(10));
        EXPECT_TRUE(std::holds_alternative<FindLeftovers>(step.effects.at(0)));
        EXPECT_FALSE(shown("a").end);
    }

    static void expect_death(const End& end) {
        EXPECT_EQ(end.reason, Reason::signaled);
        EXPECT_EQ(end.proof, Proof::observed);
        EXPECT_EQ(end.ended_after, at(9).wall);
        EXPECT_EQ(end.ended_before, at(10).wall);
        EXPECT_THAT(end.evidence, ::testing::HasSubstr("was not looked for any more"));
    }
    End told_end() {
        const auto ends = told(EventType::session_end);
        EXPECT_EQ(ends.size(), 1U);
        return ends.empty() ? End{} : *ends[0].end;
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Departing, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Departing, ACloseByAnotherIsTooLate) {
    const auto reply = journal().one(close("a", 1), at(11));

    ASSERT_TRUE(reply);
    const auto& closed = std::get<ClosedReply>(*reply);
    EXPECT_TRUE(closed.already_ended);
    expect_death(closed.end);
    expect_death(*shown("a").end);
    // What the search finds comes too late for the record.
    journal().one(gone(5, signaled(SIGKILL), "a", {}), at(12));
    EXPECT_EQ(told(EventType::session_end).size(), 1U);
}

TEST_P(Departing, ItTakesNoWriteAndNoBeat) {
    EXPECT_EQ(journal().one(turn("a", 1, true), at(11)).error().code, ErrorCode::ended);
    EXPECT_EQ(journal().one(append("a", 1, {"hello"}), at(11)).error().code, ErrorCode::ended);
    const auto beats = std::get<HeartbeatReply>(*journal().one(beat("a"), at(11)));
    EXPECT_EQ(beats.ended, std::vector{SessionId("a")});
    EXPECT_EQ(shown("a").last_activity_at, at(0).wall);
}

TEST_P(Departing, WhoeverResumesItTakesItFromNobody) {
    const auto reply = journal().one(resume("a"), at(11));

    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(std::get<OpenedReply>(*reply).generation, 2U);
    expect_death(told_end());
}

TEST_P(Departing, NorDoesATakeoverHideTheDeath) {
    ASSERT_TRUE(journal().one(resume("a", /*takeover=*/true), at(11)));

    expect_death(told_end());
}

TEST_P(Departing, WhoAsksIsTold) {
    const auto reply = std::get<InspectReply>(*journal().one(Inspect{SessionId("a")}, at(11)));

    ASSERT_TRUE(reply.departed);
    EXPECT_EQ(reply.departed->reason, Reason::signaled);
}

TEST_P(Departing, AWordThatComesWithTheDeathIsTooLate) {
    journal().one(create("b", process_owner(6)), at(0));

    const auto step = journal().step({gone(6, signaled(SIGKILL)), close("b", 1)}, at(11));

    ASSERT_TRUE(step.replies.at(1));
    EXPECT_TRUE(std::get<ClosedReply>(*step.replies[1]).already_ended);
    EXPECT_EQ(shown("b").end->reason, Reason::signaled);
    EXPECT_EQ(shown("b").end->proof, Proof::observed);
}

TEST_P(Departing, ATakeoverEndsNothingBeforeItBegan) {
    journal().one(create("b", process_owner(6)), at(0));
    auto killed = signaled(SIGKILL);
    killed.last_look = at(9).boot;
    killed.seen_at = at(10).boot;

    journal().step({gone(6, killed), create("c", process_owner(6)), resume("c", /*takeover=*/true)},
                   at(12));

    for (const auto& event : told(EventType::session_end)) {
        EXPECT_GE(event.end->ended_after, event.started_at) << event.session_id.text();
    }
    EXPECT_EQ(told(EventType::session_end).size(), 2U);
}

TEST_P(Departing, WhatItWasFoundToHaveLeftIsKept) {
    const Leftover server{process_owner(7).process, "its cookie", "serve", Fate::left};

    journal().step({gone(5, signaled(SIGKILL), "a", {server}), close("a", 1)}, at(11));

    ASSERT_EQ(shown("a").end->leftovers.size(), 1U);
    EXPECT_THAT(shown("a").end->evidence,
                ::testing::Not(::testing::HasSubstr("was not looked for any more")));
}

}  // namespace
}  // namespace knell::testing
