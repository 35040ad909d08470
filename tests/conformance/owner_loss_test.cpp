// Process owners: what each way of going makes of their sessions.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/limits.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class OwnerLoss : public StoreStory {};
INSTANTIATE_TEST_SUITE_P(EveryStore, OwnerLoss, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

struct Way {
    Departure departure;
    Reason reason;
    std::string detail;
};

std::vector<Way> every_way() {
    auto oom = signaled(SIGKILL);
    oom.kind = Departure::Kind::oom_killed;
    const auto seen_lost = watched_to_the_end(lost());
    return {{exited(0), Reason::exited, "exit 0"},
            {exited(3), Reason::exited, "exit 3"},
            {signaled(SIGKILL), Reason::signaled, "signal 9 (SIGKILL)"},
            {signaled(SIGTERM), Reason::signaled, "signal 15 (SIGTERM)"},
            {signaled(SIGSEGV), Reason::signaled, "signal 11 (SIGSEGV)"},
            {signaled(40), Reason::signaled, "signal 40"},
            {oom, Reason::oom_killed, "signal 9 (SIGKILL)"},
            {lost(), Reason::owner_lost, ""},
            {seen_lost, Reason::owner_lost, ""},
            {host_restarted(), Reason::host_restart, ""}};
}

TEST_P(OwnerLoss, EachWayOfGoingHasItsReason) {
    int number = 0;
    for (const auto& way : every_way()) {
        const auto id = fmt::format("s{}", ++number);
        SCOPED_TRACE(id + " " + way.departure.evidence + " " + way.detail);
        journal().one(create(id, process_owner(1000 + number)), at(10));
        journal().one(turn(id, 1, true), at(11));

        const auto step = journal().step({gone(1000 + number, way.departure)}, at(20));

        const auto session = shown(id);
        ASSERT_TRUE(session.end);
        EXPECT_EQ(session.end->reason, way.reason);
        EXPECT_EQ(session.end->proof, Proof::observed);
        EXPECT_EQ(session.end->detail, way.detail);
        EXPECT_EQ(session.end->evidence, way.departure.evidence);
        EXPECT_EQ(session.end->ended_before, at(20).wall);
        const bool watched = way.departure.last_look.has_value();
        EXPECT_EQ(session.end->ended_after, watched ? at(20).wall : at(10).wall);
        EXPECT_EQ(session.end->ended_at, watched ? at(20).wall : at(11).wall);
        EXPECT_FALSE(session.turn_since);
        ASSERT_EQ(step.automatic().size(), 2U);
        EXPECT_EQ(step.automatic()[0].type, EventType::agent_end);
        EXPECT_EQ(step.automatic()[1].type, EventType::session_end);
    }
}

TEST_P(OwnerLoss, ACommandThatExitsWithZeroIsCompleted) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command);
    auto searched = gone(5, exited(0));
    searched.searched = true;
    journal().one(searched, at(1));

    EXPECT_EQ(shown("a").end->reason, Reason::completed);
    EXPECT_EQ(shown("a").end->detail, "exit 0");
}

TEST_P(OwnerLoss, WhatACommandLeftBehindIsLookedForBeforeItsEnd) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().group({command, create("b", process_owner(5))}, at(0));

    auto step = journal().step({gone(5, signaled(SIGKILL))}, at(1));

    ASSERT_EQ(step.effects.size(), 1U);
    const auto& search = std::get<FindLeftovers>(step.effects[0]);
    ASSERT_EQ(search.commands.size(), 1U);
    EXPECT_EQ(search.commands[0].session_id, SessionId("a"));
    EXPECT_FALSE(shown("a").end);

    const auto found = gone(5, signaled(SIGKILL), "a", {leftover(42), leftover(43, Fate::shared)});
    step = journal().step({found}, at(2));

    const std::vector stopping{leftover(42, Fate::stopping), on_record(leftover(43, Fate::shared))};
    EXPECT_EQ(shown("a").end->leftovers, stopping);
    EXPECT_TRUE(shown("b").end->leftovers.empty()) << "only a command leaves something behind";
    std::size_t stops = 0;
    for (const auto& effect : step.effects) {
        if (const auto* stop = std::get_if<StopLeftovers>(&effect)) {
            ++stops;
            EXPECT_EQ(stop->session_id.text(), "a");
            EXPECT_EQ(stop->generation, 1U);
            EXPECT_EQ(stop->leftovers, stopping);
        }
    }
    EXPECT_EQ(stops, 1U);
}

TEST_P(OwnerLoss, LeftoversAreOnlyReportedUnlessToldToStopThem) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command);

    const auto step = journal().step({gone(5, exited(1), "a", {leftover(42)})}, at(2));

    EXPECT_EQ(shown("a").end->leftovers, std::vector{on_record(leftover(42))});
    for (const auto& effect : step.effects) {
        EXPECT_FALSE(std::holds_alternative<StopLeftovers>(effect));
    }
}

TEST_P(OwnerLoss, OfTwoCommandsOfOneOwnerEachHasItsOwnLeftovers) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::report;
    auto other = create("b", process_owner(5));
    other.draft.leftovers = LeftoversPolicy::stop;
    journal().group({command, other}, at(0));
    auto found = gone(5, exited(0), "a", {leftover(42)});

    const auto step = journal().step({found}, at(1));

    EXPECT_EQ(shown("a").end->leftovers, std::vector{on_record(leftover(42))});
    EXPECT_TRUE(shown("b").end->leftovers.empty());
    for (const auto& effect : step.effects) {
        EXPECT_FALSE(std::holds_alternative<StopLeftovers>(effect));
    }
}

TEST_P(OwnerLoss, NobodyLooksForLeftoversOfABootThatIsOver) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command);

    const auto step = journal().step({gone(5, host_restarted())}, at(1));

    for (const auto& effect : step.effects) {
        EXPECT_FALSE(std::holds_alternative<FindLeftovers>(effect));
    }
    EXPECT_EQ(shown("a").end->reason, Reason::host_restart);
}

TEST_P(OwnerLoss, WhoeverTakesACommandOverIsNotACommand) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command);
    journal().one(resume("a", /*takeover=*/true), at(1));  // process 200

    const auto step = journal().step({gone(200, exited(0))}, at(2));

    for (const auto& effect : step.effects) {
        EXPECT_FALSE(std::holds_alternative<FindLeftovers>(effect))
            << "what the new owner leaves behind is its own";
    }
    ASSERT_TRUE(shown("a").end);
    EXPECT_EQ(shown("a").end->reason, Reason::exited);
}

TEST_P(OwnerLoss, OneOwnerOfFiveThousandSessionsEndsThemAll) {
    constexpr int sessions = 5000;
    std::vector<Input> inputs;
    for (int i = 0; i < sessions; ++i) {
        inputs.emplace_back(create(fmt::format("s{}", i), process_owner(5)));
    }
    inputs.emplace_back(create("other", process_owner(6)));
    journal().group(std::move(inputs), at(0));

    std::vector<Input> word;
    word.emplace_back(gone(5, signaled(SIGKILL)));
    auto step = journal().journal.commit(std::move(word), at(9));
    int steps = 1;
    std::size_t ends = step.automatic().size();
    EXPECT_LE(ends, limits::batch_commands_max);
    while (journal().journal.has_work_left()) {
        // Others are served in between.
        std::vector<Input> between;
        between.emplace_back(append("other", 1, {"x"}));
        step = journal().journal.commit(std::move(between), at(9 + steps));
        EXPECT_TRUE(step.replies.front());
        ends += step.automatic().size();
        ++steps;
    }

    EXPECT_GT(steps, 4);
    EXPECT_EQ(ends, static_cast<std::size_t>(sessions));
    EXPECT_EQ(told(EventType::session_end).size(), static_cast<std::size_t>(sessions));
    EXPECT_EQ(journal().state.open_count(), 1U);
    EXPECT_FALSE(shown("other").end);
    EXPECT_EQ(shown("s4999").end->detail, "signal 9 (SIGKILL)");
}

TEST_P(OwnerLoss, ARestartInTheMiddleLosesNone) {
    std::vector<Input> inputs;
    for (int i = 0; i < 3000; ++i) {
        inputs.emplace_back(create(fmt::format("s{}", i), process_owner(5)));
    }
    journal().group(std::move(inputs), at(0));
    std::vector<Input> word;
    word.emplace_back(gone(5, exited(4)));
    journal().journal.commit(std::move(word), at(9));
    ASSERT_TRUE(journal().journal.has_work_left());
    restart(at(10));
    const auto left = journal().state.open_count();
    EXPECT_GT(left, 0U);

    journal().one(gone(5, lost()), at(11));

    EXPECT_EQ(journal().state.open_count(), 0U);
    EXPECT_EQ(told(EventType::session_end).size(), 3000U);
}

TEST_P(OwnerLoss, AnOwnerIsWatchedOnceAndUntilItsLastSessionIsOver) {
    auto step =
        journal().step({create("a", process_owner(5)), create("b", process_owner(5))}, at(0));
    ASSERT_EQ(step.effects.size(), 1U);
    EXPECT_EQ(std::get<WatchOwner>(step.effects[0]).process, process_owner(5).process);

    EXPECT_TRUE(journal().step({close("a")}, at(1)).effects.empty());
    step = journal().step({close("b")}, at(2));

    ASSERT_EQ(step.effects.size(), 1U);
    EXPECT_EQ(std::get<UnwatchOwner>(step.effects[0]).process, process_owner(5).process);
}

TEST_P(OwnerLoss, AStrangerUnderTheSamePidIsAnotherOwner) {
    auto stranger = process_owner(5);
    stranger.process.start_ticks = 99;
    auto other_boot = process_owner(5);
    other_boot.process.boot_id = "boot-2";
    journal().group({create("a", process_owner(5)), create("b", stranger), create("c", other_boot)},
                    at(0));

    journal().one(gone(5, exited(0)), at(1));

    EXPECT_TRUE(shown("a").end);
    EXPECT_FALSE(shown("b").end);
    EXPECT_FALSE(shown("c").end);
}

TEST_P(OwnerLoss, ASessionTakenOverInTimeSurvivesItsOldOwner) {
    journal().one(create("a", process_owner(5)), at(0));
    journal().one(resume("a", /*takeover=*/true), at(1));

    journal().one(gone(5, signaled(SIGKILL)), at(2));

    EXPECT_FALSE(shown("a").end);
    EXPECT_EQ(shown("a").generation, 2U);
}

TEST_P(OwnerLoss, ADaemonThatWatchedKnowsThatTheOwnerLivedUntilItsLastWord) {
    journal().group({create("a", process_owner(5)), create("l", lease_owner(3600s))}, at(0));
    journal().state.set_watched_until(at(60).boot);
    journal().tick(at(65));
    restart(at(100));

    journal().one(gone(5, lost()), at(100));

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, at(60).wall);
    EXPECT_EQ(end.ended_at, at(60).wall);
    EXPECT_EQ(end.ended_before, at(100).wall);
}

TEST_P(OwnerLoss, WhatCouldNotBeCheckedIsKnownByItsOwnSignsOfLifeOnly) {
    journal().group({create("a", process_owner(5)), create("l", lease_owner(3600s))}, at(0));
    journal().one(unknown(5), at(10));
    journal().state.set_watched_until(at(60).boot);
    journal().tick(at(60));
    restart(at(100));

    journal().one(gone(5, host_restarted()), at(100));

    EXPECT_EQ(shown("a").end->ended_after, at(0).wall);
}

TEST_P(OwnerLoss, TheBoundsAreWhenItWasSeenHoweverLateItIsWritten) {
    journal().one(create("a", process_owner(5)), at(0));
    auto killed = signaled(SIGKILL);
    killed.last_look = at(100).boot;
    killed.seen_at = at(110).boot;

    journal().one(gone(5, killed), at(8 * 3600));

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, at(100).wall);
    EXPECT_EQ(end.ended_at, at(110).wall);
    EXPECT_EQ(end.ended_before, at(110).wall);
}

TEST_P(OwnerLoss, AClockSetBackNeverEndsASessionBeforeItsStart) {
    journal().one(create("a", process_owner(5)), at(0));
    journal().one(create("b", lease_owner(60s)), at(0));
    auto now = at(100);
    now.wall -= 240h;
    auto killed = signaled(SIGKILL);
    killed.last_look = at(90).boot;
    killed.seen_at = at(95).boot;

    journal().one(gone(5, killed), now);

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, at(90).wall) << "as its own clock went on";
    EXPECT_EQ(end.ended_before, at(95).wall);
    EXPECT_THAT(end.evidence, ::testing::HasSubstr("set back by 864000 s"));
    const auto reaped = *shown("b").end;
    EXPECT_EQ(reaped.reason, Reason::reaped);
    EXPECT_EQ(reaped.ended_after, at(0).wall);
    EXPECT_EQ(reaped.ended_before, at(100).wall);
}

TEST_P(OwnerLoss, AClockSetBetweenTwoDaemonsIsMeasuredByTheClockOfTheBoot) {
    restart(at(0), "boot-1");
    journal().group({create("a", process_owner(5)), create("b", process_owner(6))}, at(0));
    journal().state.set_watched_until(at(600).boot);
    journal().tick(at(600));
    // Later than its last word, and earlier than it would be.
    auto now = at(1000);
    now.wall -= 300s;
    restart(now, "boot-1");

    journal().one(gone(5, lost()), now);
    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, at(600).wall) << "as its own clock went on";
    EXPECT_EQ(end.ended_before, at(1000).wall);
    EXPECT_THAT(end.evidence, ::testing::HasSubstr("set back by 300 s"));

    // Who came after that counts by the clock as it is.
    journal().one(create("c", process_owner(7)), now);
    EXPECT_EQ(shown("c").started_at, now.wall);
    auto killed = signaled(SIGKILL);
    killed.seen_at = now.boot;
    journal().one(gone(7, killed), now);
    EXPECT_EQ(shown("c").end->ended_after, now.wall);
    EXPECT_EQ(shown("c").end->ended_before, now.wall);
}

TEST_P(OwnerLoss, AClockSetAheadBetweenTwoDaemonsIsBelieved) {
    restart(at(0), "boot-1");
    journal().one(create("a", process_owner(5)), at(0));
    journal().state.set_watched_until(at(60).boot);
    journal().tick(at(60));
    auto now = at(100);
    now.wall += 240h;
    restart(now, "boot-1");

    journal().one(gone(5, lost()), now);

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, at(60).wall);
    EXPECT_EQ(end.ended_before, now.wall);
}

TEST_P(OwnerLoss, AClockThatAnotherBootFindsSetBackIsSaidToBe) {
    restart(at(0), "boot-1");
    journal().one(create("a", process_owner(5)), at(0));
    journal().state.set_watched_until(at(600).boot);
    journal().tick(at(600));
    restart(at(300), "boot-2");

    journal().one(gone(5, host_restarted()), at(300));

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, at(0).wall) << "a last word from the future proves nothing";
    EXPECT_EQ(end.ended_before, at(300).wall);
    EXPECT_THAT(end.evidence, ::testing::HasSubstr("the wall clock was set back while no knell"));
}

TEST_P(OwnerLoss, AClockSetBackWhileNoDaemonRanDoesNotEither) {
    journal().one(create("a", process_owner(5)), at(0));
    auto now = at(100);
    now.wall -= 240h;
    restart(now);

    journal().one(gone(5, lost()), now);
    journal().one(resume("a"), now);
    journal().one(gone(200, signaled(SIGKILL)), now);

    const auto row = shown("a");
    EXPECT_GE(row.owner.since, at(0).wall);
    EXPECT_GE(row.end->ended_after, row.started_at);
    EXPECT_LE(row.end->ended_after, row.end->ended_before);
}

TEST_P(OwnerLoss, AClockSetAheadAndBackPassesNoRecordedTimeEither) {
    auto parking = create("a", process_owner(5));
    parking.draft.on_owner_loss = OnOwnerLoss::park;
    parking.draft.park_window = 30s;
    journal().one(parking, at(0));
    auto ahead = at(10);
    ahead.wall += 960h;
    journal().one(gone(5, signaled(SIGKILL)), ahead);
    auto back = at(20);
    back.wall += 900h;
    journal().tick(back);
    back = at(60);
    back.wall += 900h;
    journal().tick(back);

    const auto end = *shown("a").end;
    EXPECT_EQ(end.ended_after, ahead.wall);
    EXPECT_EQ(end.ended_before, at(60).wall + 960h);
}

TEST_P(OwnerLoss, AClockSetAheadIsTakenAsItIs) {
    journal().one(create("a", process_owner(5)), at(0));
    auto now = at(100);
    now.wall += 240h;
    auto killed = signaled(SIGKILL);
    killed.last_look = at(90).boot;
    killed.seen_at = at(95).boot;

    journal().one(gone(5, killed), now);

    EXPECT_EQ(shown("a").end->ended_after, at(90).wall + 240h);
    EXPECT_EQ(shown("a").end->ended_before, at(95).wall + 240h);
}

TEST_P(OwnerLoss, ADeathThatIsStillBeingLookedIntoHoldsBackTheWordThatAllIsWell) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().group({command, create("l", lease_owner(3600s))}, at(0));
    auto killed = signaled(SIGKILL);
    killed.last_look = at(10).boot;
    killed.seen_at = at(11).boot;
    journal().one(gone(5, killed), at(11));  // a search begins, and never ends
    journal().state.set_watched_until(at(60).boot);
    journal().tick(at(61));
    restart(at(100));

    auto searched = gone(5, lost());
    searched.searched = true;
    journal().one(searched, at(100));

    ASSERT_TRUE(shown("a").end);
    EXPECT_EQ(shown("a").end->ended_after, at(0).wall);
}

}  // namespace
}  // namespace knell::testing
