// Background processes: on record from their start to their exit, they keep their session while
// they are work that counts, and outlive it.

#include <csignal>

#include <gmock/gmock.h>

#include "background_story.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
constexpr auto working = ProcessActivity::working;
constexpr auto listening = ProcessActivity::listening;
constexpr auto waiting = ProcessActivity::waiting;

class Background : public BackgroundStory {};
INSTANTIATE_TEST_SUITE_P(EveryStore, Background, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// --- coming on record ---------------------------------------------------------------------------

TEST_P(Background, AStartedOneIsLetGoOnceItIsOnRecord) {
    const auto step = say(record_process("a", 7), at(5));

    const auto row = told(step.replies.front());
    EXPECT_EQ(row, process(7));
    EXPECT_EQ(row.number, 1);
    EXPECT_EQ(row.generation, 1U);
    EXPECT_EQ(row.started_at, at(5).wall);
    EXPECT_EQ(row.activity.activity, working);
    ASSERT_EQ(effects_of<WatchProcess>(step).size(), 1U);
    EXPECT_EQ(effects_of<WatchProcess>(step).front().process, row);
    ASSERT_EQ(effects_of<OpenGate>(step).size(), 1U);
    EXPECT_EQ(effects_of<OpenGate>(step).front().id, row.id);
    const auto events = process_events();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].type, EventType::process_start);
    EXPECT_EQ(events[0].session_id.text(), "a");
    EXPECT_EQ(events[0].process, row);
    EXPECT_FALSE(events[0].after_end);
}

TEST_P(Background, ARegisteredOneRunsAlready) {
    const auto step = say(record_process("a", 7, ProcessOrigin::registered), at(5));
    EXPECT_TRUE(step.replies.front());
    EXPECT_EQ(effects_of<WatchProcess>(step).size(), 1U);
    EXPECT_THAT(effects_of<OpenGate>(step), IsEmpty());
}

TEST_P(Background, OnlyAnOpenSessionTakesOne) {
    EXPECT_EQ(refusal(journal().one(record_process("nobody", 7))).code, ErrorCode::not_found);
    journal().one(close("a"), at(1));
    EXPECT_EQ(refusal(journal().one(record_process("a", 7), at(2))).code, ErrorCode::ended);
    EXPECT_THAT(process_events(), IsEmpty());
}

TEST_P(Background, OneWhoseOwnerWasSeenToGoHasEnded) {
    auto command = create("b", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command, at(1));
    journal().one(gone(300, exited(0)), at(2));
    EXPECT_EQ(refusal(journal().one(record_process("b", 7), at(2))).code, ErrorCode::ended);
}

TEST_P(Background, TheSameIsNeverOnRecordTwice) {
    journal().one(create("b"), at(0));
    const auto first = told(journal().one(record_process("a", 7, ProcessOrigin::registered)));

    const auto again = journal().one(record_process("a", 7, ProcessOrigin::registered), at(3));
    EXPECT_EQ(told(again), first);
    EXPECT_FALSE(std::get<ProcessReply>(*again).changed);
    const auto others = refusal(journal().one(record_process("b", 7), at(3)));
    EXPECT_EQ(others.code, ErrorCode::owned);
    EXPECT_THAT(others.message, HasSubstr(first.id.text()));
    EXPECT_THAT(others.message, HasSubstr("session a"));
    EXPECT_EQ(process_events().size(), 1U);
}

TEST_P(Background, LimitsHold) {
    auto full = record_process("a", 9);
    full.per_session_max = 2;
    journal().one(record_process("a", 7));
    journal().one(record_process("a", 8));
    const auto of_session = refusal(journal().one(full, at(1)));
    EXPECT_EQ(of_session.code, ErrorCode::limit);
    EXPECT_THAT(of_session.message, HasSubstr("session a"));

    full.per_session_max = 100;
    full.node_max = 2;
    EXPECT_THAT(refusal(journal().one(full, at(1))).message, HasSubstr("on this node"));
    journal().one(process_gone(7, exited(0)), at(2));
    EXPECT_TRUE(journal().one(full, at(3))) << "one of them has gone";
}

// --- going --------------------------------------------------------------------------------------

TEST_P(Background, ItsExitIsToldOnceWithItsBounds) {
    journal().one(record_process("a", 7), at(5));
    auto departure = exited(3);
    departure.last_look = at(19).boot;
    departure.seen_at = at(20).boot;
    auto step = say(process_gone(7, departure), at(25));

    const auto exit = process(7).exit;
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->kind, ExitKind::exited);
    EXPECT_EQ(exit->number, 3);
    EXPECT_EQ(exit->after, at(19).wall);
    EXPECT_EQ(exit->at, at(20).wall);
    EXPECT_EQ(exit->before, at(20).wall);
    ASSERT_EQ(effects_of<UnwatchProcess>(step).size(), 1U);
    EXPECT_EQ(effects_of<UnwatchProcess>(step).front().id, process_id(7));
    journal().one(process_gone(7, lost()), at(26));
    const auto events = process_events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].type, EventType::process_exit);
    EXPECT_EQ(events[1].process, process(7));
}

TEST_P(Background, NothingEndsBeforeItBegan) {
    journal().one(record_process("a", 7), at(5));
    auto departure = signaled(SIGKILL);
    departure.last_look = departure.seen_at = at(1).boot;
    journal().one(process_gone(7, departure), at(6));
    const auto exit = process(7).exit;
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->kind, ExitKind::signaled);
    EXPECT_EQ(exit->after, at(5).wall);
    EXPECT_EQ(exit->before, at(5).wall);
}

TEST_P(Background, AProgramThatCouldNotBeExecutedNeverRan) {
    journal().one(record_process("a", 7), at(5));
    auto gone = process_gone(7, exited(127));
    gone.never_ran = "/bin/nothing: no such file";
    journal().one(gone, at(6));
    const auto exit = process(7).exit;
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->kind, ExitKind::never_ran);
    EXPECT_EQ(exit->number, 0);
    EXPECT_EQ(exit->evidence, "/bin/nothing: no such file");
}

TEST_P(Background, ItsExitMayFollowTheEndOfItsSession) {
    journal().one(record_process("a", 7), at(1));
    journal().one(close("a"), at(2));
    // Both in one transaction with its end elsewhere: the row is read as it is then.
    journal().one(create("b"), at(3));
    journal().one(record_process("b", 8), at(3));
    journal().group({close("b"), process_gone(8, exited(0)), process_gone(7, lost())}, at(4));

    const auto events = process_events();
    ASSERT_EQ(events.size(), 4U);
    for (const auto at : {2U, 3U}) {
        EXPECT_EQ(events[at].type, EventType::process_exit);
        EXPECT_TRUE(events[at].after_end);
        EXPECT_EQ(events[at].source, "cli") << "told with what its session was";
    }
}

TEST_P(Background, WhereNobodyWatchedTheLastWordOfTheDaemonBeforeIsTheBound) {
    journal().one(record_process("a", 7), at(5));
    journal().state.set_watched_until(at(65).boot);
    journal().tick(at(65));  // signs of life are flushed, with the last word
    restart(at(100));
    journal().one(process_gone(7, lost()), at(100));
    const auto exit = process(7).exit;
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->kind, ExitKind::lost);
    EXPECT_EQ(exit->after, at(65).wall);
    EXPECT_EQ(exit->at, at(65).wall);
    EXPECT_EQ(exit->before, at(100).wall);
}

TEST_P(Background, WithoutALastWordItsStartIsTheBound) {
    journal().one(record_process("a", 7), at(5));
    restart(at(100));
    journal().one(process_gone(7, host_restarted()), at(100));
    const auto exit = process(7).exit;
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->kind, ExitKind::host_restart);
    EXPECT_EQ(exit->after, at(5).wall);
    EXPECT_EQ(exit->before, at(100).wall);
}

TEST_P(Background, ItsTimesDoNotRunBackwardsWithTheClock) {
    journal().one(record_process("a", 7), at(50));
    auto set_back = at(60);
    set_back.wall -= 1h;
    journal().tick(at(59));
    journal().one(process_gone(7, exited(0)), set_back);
    const auto exit = process(7).exit;
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->before, at(60).wall);
}

// --- keeping its session ------------------------------------------------------------------------

TEST_P(Background, ASessionIsInTheBackgroundWhileOneCounts) {
    journal().one(record_process("a", 7), at(5));
    EXPECT_EQ(status("a"), Status::background);
    EXPECT_EQ(shown("a").background_since, at(5).wall);
    journal().one(record_process("a", 8), at(6));
    journal().one(process_active(7, listening), at(7));
    EXPECT_EQ(status("a"), Status::background) << "the other works";
    journal().one(process_active(8, waiting), at(8));
    EXPECT_EQ(status("a"), Status::idle);
    EXPECT_EQ(shown("a").background_since, std::nullopt);
    journal().one(process_active(7, working), at(9));
    EXPECT_EQ(shown("a").background_since, at(9).wall);
    journal().one(turn("a", 1, true), at(10));
    EXPECT_EQ(status("a"), Status::running);
    const auto off = journal().one(turn("a", 1, false), at(11));
    EXPECT_EQ(std::get<TurnReply>(*off).status, Status::background);
    journal().one(process_gone(7, exited(0)), at(12));
    EXPECT_EQ(status("a"), Status::idle);
}

TEST_P(Background, OnlyWhatIsNewOfItIsWritten) {
    journal().one(record_process("a", 7), at(5));
    EXPECT_TRUE(journal().tick(at(6)).events.empty());
    const auto commits = journal().journal.counts().commits;
    journal().one(process_active(7, working), at(7));
    EXPECT_EQ(journal().journal.counts().commits, commits);
    journal().one(process_active(7, waiting), at(8));
    EXPECT_EQ(process(7).activity.activity, waiting);
    EXPECT_EQ(process(7).activity.evidence, "seen by the test");
    EXPECT_EQ(process_events().size(), 1U) << "nobody is told";
}

TEST_P(Background, OneThatDoesNothingForLongIsToldOnce) {
    journal().one(record_process("a", 7), at(5));
    journal().one(process_active(7, listening, /*stale=*/true), at(8));
    journal().one(process_active(7, listening, /*stale=*/true), at(9));
    EXPECT_EQ(process(7).stale_since, at(8).wall);
    auto events = process_events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].type, EventType::process_stale);
    EXPECT_EQ(events[1].process, process(7));
    journal().one(process_active(7, working, /*stale=*/true), at(10));
    EXPECT_EQ(process(7).stale_since, std::nullopt) << "who works is not";
    journal().one(process_active(7, waiting, /*stale=*/true), at(11));
    EXPECT_EQ(process_events().size(), 3U) << "and again";
}

TEST_P(Background, AVouchedOneCountsUntilThatIsOver) {
    journal().one(record_process("a", 7), at(5));
    const auto until = at(100).wall;
    const auto reply = journal().one(vouch(7, until), at(6));
    EXPECT_EQ(told(reply).vouched_until, until);
    journal().one(process_active(7, listening), at(7));
    EXPECT_EQ(status("a"), Status::background);
    journal().tick(at(99));
    EXPECT_EQ(status("a"), Status::background);
    journal().tick(at(100));
    EXPECT_EQ(status("a"), Status::idle);
    EXPECT_EQ(process(7).vouched_until, std::nullopt);
    EXPECT_EQ(journal().state.next_vouch_end(), std::nullopt);
}

TEST_P(Background, AVouchGoesByTheClockOnTheWallWhoeverSetsIt) {
    journal().one(record_process("a", 7), at(5));
    journal().one(vouch(7, at(1000).wall), at(6));
    journal().one(process_active(7, waiting), at(7));
    auto set_ahead = at(8);
    set_ahead.wall += 1h;
    journal().tick(set_ahead);
    EXPECT_EQ(status("a"), Status::idle);
}

TEST_P(Background, AVouchThatRanOutWhileNoDaemonRanIsOver) {
    journal().one(record_process("a", 7), at(5));
    journal().one(vouch(7, at(100).wall), at(6));
    journal().one(process_active(7, waiting), at(7));
    restart(at(200));
    journal().tick(at(200));
    EXPECT_EQ(status("a"), Status::idle);
}

TEST_P(Background, AVouchIsForATimeToComeThatIsNotTooFar) {
    journal().one(record_process("a", 7), at(5));
    for (const auto until : {at(5).wall, at(6).wall + limits::process_vouch_max + 1ms}) {
        const auto why = refusal(journal().one(vouch(7, until), at(6)));
        EXPECT_EQ(why.code, ErrorCode::invalid_params);
        EXPECT_EQ(why.field, "until");
    }
    EXPECT_TRUE(journal().one(vouch(7, at(6).wall + limits::process_vouch_max), at(6)));
    EXPECT_TRUE(std::get<ProcessReply>(*journal().one(vouch(7, std::nullopt), at(7))).changed);
    EXPECT_FALSE(std::get<ProcessReply>(*journal().one(vouch(7, std::nullopt), at(8))).changed);
    EXPECT_EQ(refusal(journal().one(vouch(99, at(9).wall), at(8))).code, ErrorCode::not_found);
}

TEST_P(Background, AHostedSessionIsHeldByItAndHasItsWindowAnew) {
    journal().one(create("h", hosted_owner(60s)), at(0));
    journal().one(record_process("h", 7), at(50));
    journal().tick(at(1000));
    EXPECT_EQ(status("h"), Status::background);
    restart(at(2000));
    journal().tick(at(3000));
    EXPECT_EQ(status("h"), Status::background) << "nor does a restart end it";
    journal().one(process_gone(7, exited(0)), at(3000));
    EXPECT_EQ(shown("h").detached_since, at(3000).wall);
    journal().tick(at(3059));
    EXPECT_EQ(status("h"), Status::detached);
    journal().tick(at(3062));
    EXPECT_EQ(status("h"), Status::ended);
    EXPECT_EQ(shown("h").end->reason, Reason::detached_expiry);
}

TEST_P(Background, WhatRunsStaysWithTheSessionWhoeverOwnsIt) {
    journal().one(record_process("a", 7), at(5));
    const auto taken = journal().one(resume("a", /*takeover=*/true), at(10));
    EXPECT_EQ(std::get<OpenedReply>(*taken).status, Status::background);
    EXPECT_EQ(shown("a").background_since, at(5).wall) << "it did not begin anew";
    const auto ends = StoreStory::told(EventType::session_end);
    ASSERT_EQ(ends.size(), 1U);
    EXPECT_THAT(ends[0].end->leftovers, IsEmpty());
    journal().one(close("a"), at(11));
    const auto opened = journal().one(resume("a"), at(12));
    EXPECT_EQ(std::get<OpenedReply>(*opened).status, Status::background);
    EXPECT_EQ(shown("a").background_since, at(12).wall);
    journal().one(process_gone(7, exited(0)), at(13));
    EXPECT_EQ(status("a"), Status::idle);
    EXPECT_FALSE(process_events().back().after_end);
    EXPECT_EQ(process_events().back().generation, 3U);
}

TEST_P(Background, AnExitSaysThatTheClockWasSetBack) {
    journal().one(record_process("a", 7), at(5));
    auto now = at(100);
    now.wall -= 240h;
    auto departure = exited(0);
    departure.last_look = at(90).boot;
    departure.seen_at = at(95).boot;
    journal().one(process_gone(7, departure), now);
    EXPECT_EQ(process(7).exit->after, at(90).wall) << "as its own clock went on";
    EXPECT_EQ(process(7).exit->before, at(95).wall);
    EXPECT_THAT(process(7).exit->evidence, HasSubstr("the wall clock was set back by 864000 s"));
}

TEST_P(Background, AnExitSaysThatAnotherBootFoundTheClockSetBack) {
    restart(at(0), "boot-1");
    journal().one(record_process("a", 7), at(5));
    journal().state.set_watched_until(at(600).boot);
    journal().tick(at(600));
    restart(at(300), "boot-2");
    journal().one(process_gone(7, host_restarted()), at(300));
    EXPECT_EQ(process(7).exit->after, at(5).wall) << "a last word from the future proves nothing";
    EXPECT_THAT(process(7).exit->evidence,
                HasSubstr("the wall clock was set back while no knell ran"));
}

// --- stopping -----------------------------------------------------------------------------------

TEST_P(Background, ItIsStoppedForWhoAsksAndTheRecordSaysWho) {
    journal().one(record_process("a", 7), at(5));
    auto step = say(stop_process(7), at(6));
    EXPECT_EQ(told(step.replies.front()), process(7));
    EXPECT_EQ(process(7).stop_asked_at, at(6).wall);
    EXPECT_EQ(process(7).stop_asked_by, "the test");
    ASSERT_EQ(effects_of<StopTree>(step).size(), 1U);
    EXPECT_EQ(effects_of<StopTree>(step).front().process, process(7).process);
    EXPECT_EQ(effects_of<StopTree>(step).front().command, "sleep 9");

    step = say(stop_process(7), at(7));
    EXPECT_FALSE(std::get<ProcessReply>(*step.replies.front()).changed);
    EXPECT_EQ(process(7).stop_asked_at, at(6).wall);
    EXPECT_EQ(effects_of<StopTree>(step).size(), 1U) << "it is tried again";
    EXPECT_EQ(status("a"), Status::background) << "it runs until it has gone";
    journal().one(process_gone(7, signaled(SIGTERM)), at(8));
    EXPECT_EQ(refusal(journal().one(stop_process(7), at(9))).code, ErrorCode::not_found);
}

TEST_P(Background, AStopThatIsGivenUpIsTakenBackWithItsReason) {
    journal().one(record_process("a", 7), at(5));
    journal().one(stop_process(7), at(6));
    const ProcessNotStopped left{process_id(7), process(7).process, "process 7: it owns a session"};

    const auto step = say(left, at(7));

    EXPECT_FALSE(process(7).stop_asked_at);
    EXPECT_EQ(process(7).stop_asked_by, "process 7: it owns a session; the test had asked for it");
    EXPECT_TRUE(step.effects.empty());
    EXPECT_EQ(status("a"), Status::background);
    restart(at(8));
    EXPECT_FALSE(process(7).stop_asked_at) << "the next daemon does not go on with it";

    const auto again = say(stop_process(7), at(9));
    EXPECT_EQ(process(7).stop_asked_at, at(9).wall);
    EXPECT_EQ(process(7).stop_asked_by, "the test");
    EXPECT_EQ(effects_of<StopTree>(again).size(), 1U);
}

TEST_P(Background, OnlyAStopThatWasAskedForIsTakenBack) {
    journal().one(record_process("a", 7), at(5));
    ProcessNotStopped left{process_id(7), process(7).process, "it owns a session"};
    journal().one(left, at(6));  // it was stopped with its session
    EXPECT_EQ(process(7).stop_asked_by, "");
    journal().one(stop_process(7), at(7));
    left.process.start_ticks += 1;  // of another that had its id
    journal().one(left, at(8));
    EXPECT_EQ(process(7).stop_asked_at, at(7).wall);
    left.process_id = process_id(8);
    journal().one(left, at(9));
    EXPECT_EQ(process(7).stop_asked_at, at(7).wall);
}

// --- a store that other programs write to -------------------------------------------------------

/// The other program tells nobody of what it writes.
class BackgroundElsewhere : public Background {
  protected:
    void TearDown() override {}
};
INSTANTIATE_TEST_SUITE_P(EveryStore, BackgroundElsewhere, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(BackgroundElsewhere, OneThatTheStoreHasAsGoneIsForgotten) {
    journal().one(record_process("a", 7), at(5));
    Batch foreign;
    ProcessExit exit;
    exit.at = exit.after = exit.before = at(6).wall;
    foreign.changes.emplace_back(ProcessEnded{{1, process_id(7)}, exit});
    ASSERT_TRUE(store().commit(foreign));

    const auto step = say(stop_process(7), at(7));
    EXPECT_TRUE(step.failed);
    ASSERT_EQ(step.conflicts.size(), 1U);
    EXPECT_THAT(step.conflicts[0], HasSubstr(process_id(7).text()));
    EXPECT_EQ(journal().state.processes().size(), 0U);
    journal().tick(at(8));
    EXPECT_EQ(status("a"), Status::idle) << "nothing keeps it any more";
}

}  // namespace
}  // namespace knell::testing
