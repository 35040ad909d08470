// Conversations that begin anew: by policy, by a person, and what holds that back.

#include "background_story.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto key = "agent:main:test:dm:1";

/// Session "a" has the key; an idle reset after ten minutes.
class ResetStory : public BackgroundStory {
  protected:
    ResetStory() {
        journal().state.set_reset_policies(idle_policy(10min));
        auto opened = create("k");
        opened.draft.key = key;
        opened.draft.user_id = "u7";
        journal().one(std::move(opened), at(0));
    }
    ResetReply reset_now(Reset asked, Now now) {
        auto reply = journal().one(std::move(asked), now);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? std::get<ResetReply>(*reply) : ResetReply{};
    }
    std::vector<Event> of_type(EventType type) { return StoreStory::told(type); }
    /// A process of the keyed session, doing that.
    void runs(int pid, ProcessActivity activity, Now now) {
        journal().one(record_process("k", pid), now);
        if (activity != ProcessActivity::working) {
            journal().one(process_active(pid, activity), now);
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Stores, ResetStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(ResetStory, ComesByItselfOnceNobodySpokeForLongEnough) {
    journal().tick(at(599));
    EXPECT_FALSE(shown("k").end);
    journal().tick(at(600));
    const auto row = shown("k");
    ASSERT_TRUE(row.end);
    EXPECT_EQ(row.end->reason, Reason::idle_expiry);
    EXPECT_EQ(row.end->proof, Proof::policy);
    EXPECT_NE(row.end->evidence.find("session_reset"), std::string::npos) << row.end->evidence;
    EXPECT_FALSE(shown("a").end) << "it has no key: there is nothing to begin anew";
}

TEST_P(ResetStory, NeverComesWhileATurnIsOnAndCountsFromItsEnd) {
    journal().one(turn("k", 1, true), at(100));
    journal().tick(at(5000));
    EXPECT_FALSE(shown("k").end);
    journal().one(turn("k", 1, false), at(5000));
    journal().tick(at(5599));
    EXPECT_FALSE(shown("k").end);
    journal().tick(at(5600));
    EXPECT_TRUE(shown("k").end);
}

TEST_P(ResetStory, IsAppliedOnceByADaemonThatWasDownOverIt) {
    restart(at(100'000));
    journal().state.set_reset_policies(idle_policy(10min));
    journal().tick(at(100'001));
    EXPECT_EQ(shown("k").end->reason, Reason::idle_expiry);
    journal().tick(at(200'000));
    EXPECT_EQ(of_type(EventType::session_end).size(), 1U);
}

TEST_P(ResetStory, DoesNotComeBecauseTheClockWasSet) {
    auto now = at(60);
    now.wall += 365 * 24h;
    journal().tick(now);
    EXPECT_FALSE(shown("k").end) << "ahead";
    now = at(120);
    now.wall -= 365 * 24h;
    journal().tick(now);
    EXPECT_FALSE(shown("k").end) << "back";
    now = at(600);
    now.wall -= 365 * 24h;
    journal().tick(now);
    EXPECT_TRUE(shown("k").end) << "ten minutes have passed all the same";
}

/// Seven in the evening comes once more: what was said yesterday is a day old when it does.
TEST_P(ResetStory, AClockThatIsSetBackBringsItsHourAgain) {
    const auto hour = std::chrono::floor<std::chrono::minutes>(at(7200).wall.time_since_epoch() %
                                                               std::chrono::days{1});
    journal().state.set_reset_policies(daily_policy(hour));
    const auto set_back = [](Now now) {
        now.wall -= 23h;
        return now;
    };
    journal().tick(at(30));
    journal().tick(set_back(at(60)));
    journal().tick(set_back(at(3599)));
    EXPECT_FALSE(shown("k").end);
    journal().tick(set_back(at(3601)));
    ASSERT_TRUE(shown("k").end);
    EXPECT_EQ(shown("k").end->reason, Reason::daily_reset);
}

TEST_P(ResetStory, WhatIsKnownOfItsOwnerIsHowItEnds) {
    journal().group({gone(100, exited(1))}, at(600));
    ASSERT_TRUE(shown("k").end);
    EXPECT_EQ(shown("k").end->reason, Reason::exited) << "a policy hides no death";
    const auto next = journal().one(route(key, "next", 200), at(601));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(std::get<RoutedReply>(*next).auto_reset->reason, "idle");
}

TEST_P(ResetStory, AHeldOneFollowsAPolicyThatChanges) {
    runs(7, ProcessActivity::working, at(1));
    journal().tick(at(600));
    ASSERT_TRUE(shown("k").reset_held_since);
    journal().state.set_reset_policies(std::make_shared<const ResetPolicies>());
    journal().tick(at(601));
    EXPECT_FALSE(shown("k").reset_held_since) << "nothing is due any more";
    journal().state.set_reset_policies(idle_policy(10min));
    journal().tick(at(602));
    EXPECT_TRUE(shown("k").reset_held_since);
}

TEST_P(ResetStory, FollowsAPolicyThatChanges) {
    journal().state.set_reset_policies(std::make_shared<const ResetPolicies>());
    journal().tick(at(10'000));
    EXPECT_FALSE(shown("k").end);
    journal().state.set_reset_policies(idle_policy(1min));
    journal().tick(at(10'001));
    EXPECT_TRUE(shown("k").end);
}

TEST_P(ResetStory, AServerThatNobodyUsesHoldsNothingAndIsNamedInANotice) {
    runs(7, ProcessActivity::listening, at(1));
    runs(8, ProcessActivity::waiting, at(1));
    journal().tick(at(600));

    ASSERT_TRUE(shown("k").end);
    EXPECT_EQ(shown("k").end->leftovers.size(), 2U);
    EXPECT_NE(shown("k").end->evidence.find("; its background processes do not hold it: " +
                                            process_id(7).text() + " (pid 7, "),
              std::string::npos)
        << shown("k").end->evidence;
    const auto notices = of_type(EventType::notice);
    ASSERT_EQ(notices.size(), 1U);
    const auto& notice = notices.front();
    EXPECT_EQ(notice.session_id.text(), "k");
    EXPECT_EQ(notice.session_key, key);
    EXPECT_EQ(notice.user_id, "u7");
    ASSERT_EQ(notice.blockers.size(), 2U);
    EXPECT_EQ(notice.blockers[0].pid, 7);
    EXPECT_NE(notice.detail.find("knell stop " + process_id(7).text()), std::string::npos)
        << notice.detail;
    EXPECT_LT(notice.seq, of_type(EventType::session_end).front().seq);
}

TEST_P(ResetStory, WorkHoldsItAndSaysSoOnce) {
    runs(7, ProcessActivity::working, at(1));
    journal().tick(at(600));
    journal().tick(at(700));
    EXPECT_FALSE(shown("k").end);
    EXPECT_EQ(shown("k").reset_held_since, at(600).wall);
    auto told = of_type(EventType::session_reset_deferred);
    ASSERT_EQ(told.size(), 1U);
    ASSERT_EQ(told[0].blockers.size(), 1U);
    EXPECT_EQ(told[0].blockers[0].process_id, process_id(7));
    EXPECT_EQ(told[0].blockers[0].until, at(1).wall + 24h);
    EXPECT_NE(told[0].detail.find(" is due and held back by " + process_id(7).text()),
              std::string::npos)
        << told[0].detail;
    EXPECT_TRUE(told[0].detail.ends_with(", or until a message puts it off")) << told[0].detail;

    runs(8, ProcessActivity::working, at(800));
    journal().tick(at(801));
    told = of_type(EventType::session_reset_deferred);
    ASSERT_EQ(told.size(), 2U) << "what holds it is different";
    EXPECT_EQ(told[1].blockers.size(), 2U);

    restart(at(900));
    journal().tick(at(900));
    EXPECT_EQ(shown("k").reset_held_since, at(600).wall) << "no policy is known yet";
    journal().state.set_reset_policies(idle_policy(10min));
    journal().tick(at(901));
    EXPECT_EQ(of_type(EventType::session_reset_deferred).size(), 2U) << "told before";

    journal().group({process_gone(8, exited(0))}, at(1000));
    journal().group({process_active(7, ProcessActivity::waiting)}, at(1001));
    EXPECT_EQ(shown("k").end->reason, Reason::idle_expiry) << "nothing works any more";
}

TEST_P(ResetStory, WorkHoldsItForADayAndAVouchAsLongAsItSays) {
    runs(7, ProcessActivity::working, at(0));
    journal().tick(at(24 * 3600 - 1));
    EXPECT_FALSE(shown("k").end);
    journal().one(vouch(7, at(30 * 3600).wall), at(24 * 3600 - 1));
    journal().tick(at(30 * 3600 - 1));
    EXPECT_FALSE(shown("k").end) << "somebody vouches for it";
    journal().tick(at(30 * 3600));
    EXPECT_TRUE(shown("k").end) << "a day old, and nobody does";
}

TEST_P(ResetStory, OneThatIsHeldFollowsAPolicyThatChanges) {
    const auto holding = [](std::chrono::seconds process_max_age) {
        auto policy = idle_policy(10min)->base();
        policy.process_max_age = process_max_age;
        return std::make_shared<const ResetPolicies>(policy, std::vector<ResetOverride>{});
    };
    runs(7, ProcessActivity::working, at(1));
    journal().tick(at(600));
    ASSERT_TRUE(shown("k").reset_held_since);

    journal().state.set_reset_policies(std::make_shared<const ResetPolicies>());
    journal().tick(at(700));
    EXPECT_FALSE(shown("k").reset_held_since) << "no reset is due any more";

    journal().state.set_reset_policies(holding(24h));
    journal().tick(at(701));
    EXPECT_TRUE(shown("k").reset_held_since);
    journal().state.set_reset_policies(holding(800s));
    journal().tick(at(702));
    EXPECT_FALSE(shown("k").end);
    journal().tick(at(800));
    EXPECT_FALSE(shown("k").end);
    journal().tick(at(801));
    EXPECT_TRUE(shown("k").end) << "held for as long as the policy says by now";
}

TEST_P(ResetStory, AMessageToOneThatIsHeldGoesOnWithItAndSaysWhatHolds) {
    runs(7, ProcessActivity::working, at(1));
    journal().tick(at(600));
    const auto reply = journal().one(route(key, "x", 100), at(650));
    ASSERT_TRUE(reply) << reply.error().message;
    const auto& routed = std::get<RoutedReply>(*reply);
    EXPECT_EQ(routed.session.session_id.text(), "k");
    ASSERT_TRUE(routed.held);
    EXPECT_EQ(routed.held->since, at(600).wall);
    ASSERT_EQ(routed.held->blockers.size(), 1U);
    EXPECT_EQ(routed.held->until, at(1).wall + 24h);
    EXPECT_FALSE(shown("k").reset_held_since) << "somebody spoke: it is not due any more";
    EXPECT_EQ(of_type(EventType::session_reset_deferred).size(), 1U);

    journal().group({process_gone(7, exited(0))}, at(700));
    journal().tick(at(1249));
    EXPECT_FALSE(shown("k").end);
    journal().tick(at(1250));
    EXPECT_TRUE(shown("k").end);
}

/// Also what does not come by a route: that it waits is said no longer, and again when it is due
/// anew.
TEST_P(ResetStory, OneThatIsHeldIsNotDueOnceSomebodySpokeInIt) {
    runs(7, ProcessActivity::working, at(1));
    journal().tick(at(600));
    ASSERT_TRUE(shown("k").reset_held_since);
    journal().one(append("k", 1, {"hello"}), at(650));
    journal().tick(at(650));
    EXPECT_FALSE(shown("k").reset_held_since);

    journal().tick(at(1250));
    ASSERT_TRUE(shown("k").reset_held_since);
    EXPECT_EQ(of_type(EventType::session_reset_deferred).size(), 2U);
    journal().one(turn("k", 1, true), at(1300));
    journal().tick(at(1300));
    EXPECT_FALSE(shown("k").reset_held_since) << "a turn is on";
    journal().one(turn("k", 1, false), at(1400));
    journal().tick(at(1999));
    EXPECT_FALSE(shown("k").reset_held_since);
    journal().tick(at(2000));
    EXPECT_TRUE(shown("k").reset_held_since);
}

TEST_P(ResetStory, StopStopsWhatRuns) {
    journal().state.set_reset_policies(idle_policy(10min, OnReset::stop));
    runs(7, ProcessActivity::listening, at(1));
    const auto step = journal().tick(at(600));

    const auto stops = effects_of<StopTree>(step);
    ASSERT_EQ(stops.size(), 1U);
    EXPECT_EQ(stops[0].id, process_id(7));
    ASSERT_EQ(shown("k").end->leftovers.size(), 1U);
    EXPECT_EQ(shown("k").end->leftovers[0].fate, Fate::stopping);
    EXPECT_TRUE(process(7).stop_asked_at) << "the next daemon goes on with it";
    EXPECT_TRUE(of_type(EventType::notice).empty());
}

/// What ended before its reset, with its owner or at once: what it runs is dealt with all the same.
TEST_P(ResetStory, WhatRunsAfterAnEndThatNobodyMeantIsDealtWithByTheReset) {
    runs(7, ProcessActivity::listening, at(1));
    journal().group({gone(100, exited(1))}, at(5));
    ASSERT_TRUE(journal().one(route(key, "b", 200), at(700)));
    ASSERT_EQ(of_type(EventType::notice).size(), 1U);
    EXPECT_EQ(of_type(EventType::notice)[0].session_id.text(), "b") << "the end is the last word";
    EXPECT_EQ(of_type(EventType::notice)[0].blockers.size(), 1U);

    journal().state.set_reset_policies(idle_policy(10min, OnReset::stop));
    journal().one(record_process("b", 8), at(701));
    journal().group({process_active(8, ProcessActivity::listening)}, at(702));
    journal().group({gone(200, exited(1))}, at(703));
    const auto stops = effects_of<StopTree>(say(route(key, "c", 300), at(1400)));
    ASSERT_EQ(stops.size(), 1U);
    EXPECT_EQ(stops[0].id, process_id(8));
}

/// A dead gateway's build holds the reset as a living one's does.
TEST_P(ResetStory, WhatWorksHoldsTheResetOfOneWhoseOwnerIsGone) {
    int round = 0;
    for (const auto on_reset : {OnReset::stop, OnReset::warn, OnReset::keep}) {
        SCOPED_TRACE(++round);
        journal().state.set_reset_policies(idle_policy(10min, on_reset));
        const auto now = round * 10'000;
        const auto gateway = 200 + round * 10;
        const auto pid = 20 + round * 10;
        const auto opened = journal().one(route("gone", std::to_string(round), gateway), at(now));
        ASSERT_TRUE(opened) << opened.error().message;
        const auto id = std::get<RoutedReply>(*opened).session.session_id.text();
        journal().one(record_process(id, pid), at(now + 1));
        journal().one(record_process(id, pid + 1), at(now + 1));
        journal().one(process_active(pid + 1, ProcessActivity::waiting), at(now + 2));
        journal().one(vouch(pid + 1, at(now + 5000).wall), at(now + 2));
        journal().group({gone(gateway, exited(1))}, at(now + 5));
        const auto told_before = of_type(EventType::session_reset_deferred).size();

        const auto step = say(route("gone", "x", gateway + 1), at(now + 700));
        ASSERT_TRUE(step.replies[0]) << step.replies[0].error().message;
        const auto& routed = std::get<RoutedReply>(*step.replies[0]);
        EXPECT_EQ(routed.session.session_id.text(), id);
        EXPECT_TRUE(routed.is_resumed);
        EXPECT_FALSE(routed.auto_reset);
        ASSERT_TRUE(routed.held);
        EXPECT_EQ(routed.held->blockers.size(), 2U);
        EXPECT_EQ(routed.held->until, at(now + 1).wall + 24h);
        EXPECT_TRUE(effects_of<StopTree>(step).empty());
        EXPECT_EQ(of_type(EventType::session_reset_deferred).size(), told_before + 1);

        // Seen to go in the same moment as the message comes.
        journal().tick(at(now + 701));
        auto replies = journal().group(
            {gone(gateway + 1, exited(1)), route("gone", "y", gateway + 2)}, at(now + 1400));
        ASSERT_TRUE(replies[1]) << replies[1].error().message;
        const auto& again = std::get<RoutedReply>(*replies[1]);
        EXPECT_EQ(again.session.session_id.text(), id);
        EXPECT_TRUE(again.is_resumed && again.held);

        // A machine's message opens it again, and its reset comes when nothing holds it.
        journal().group({gone(gateway + 2, exited(1))}, at(now + 1401));
        auto machine = route("gone", "z", gateway + 3);
        machine.is_automatic = true;
        replies = journal().group({std::move(machine)}, at(now + 2100));
        ASSERT_TRUE(replies[0]) << replies[0].error().message;
        EXPECT_TRUE(std::get<RoutedReply>(*replies[0]).held);
        EXPECT_TRUE(shown(id).reset_held_since);
        EXPECT_EQ(of_type(EventType::session_reset_deferred).size(), told_before + 3);
        journal().group({process_gone(pid, exited(0)), vouch(pid + 1, {})}, at(now + 2200));
        EXPECT_EQ(shown(id).end->reason, Reason::idle_expiry);
        journal().group({process_gone(pid + 1, exited(0))}, at(now + 2201));
    }
}

/// A person wants the next message to begin anew; nobody said that what works is to be killed.
TEST_P(ResetStory, TheResetOfOneThatHadEndedStopsNothingThatCounts) {
    journal().state.set_reset_policies(idle_policy(10min, OnReset::stop));
    runs(7, ProcessActivity::listening, at(1));
    runs(8, ProcessActivity::working, at(1));
    journal().one(suspend(key), at(2));
    journal().group({gone(100, exited(1))}, at(5));
    auto step = say(route(key, "b", 200), at(6));
    auto stops = effects_of<StopTree>(step);
    ASSERT_EQ(stops.size(), 1U);
    EXPECT_EQ(stops[0].id, process_id(7));
    EXPECT_FALSE(process(8).stop_asked_at);
    const auto notices = of_type(EventType::notice);
    ASSERT_EQ(notices.size(), 1U) << "the end said nothing of it";
    EXPECT_EQ(notices[0].session_id.text(), "b");
    ASSERT_EQ(notices[0].blockers.size(), 1U);
    EXPECT_EQ(notices[0].blockers[0].process_id, process_id(8));
    EXPECT_NE(notices[0].detail.find("stopped: " + process_id(7).text()), std::string::npos)
        << notices[0].detail;
    EXPECT_NE(notices[0].detail.find("knell stop " + process_id(8).text()), std::string::npos)
        << notices[0].detail;

    // Its owner is only just seen to go.
    journal().one(record_process("b", 9), at(7));
    journal().one(record_process("b", 10), at(7));
    journal().one(process_active(10, ProcessActivity::waiting), at(7));
    journal().one(suspend(key), at(8));
    step = journal().step({gone(200, exited(1)), route(key, "c", 300)}, at(9));
    stops = effects_of<StopTree>(step);
    ASSERT_EQ(stops.size(), 1U);
    EXPECT_EQ(stops[0].id, process_id(10));
    for (const auto& leftover : shown("b").end->leftovers) {
        EXPECT_EQ(leftover.fate,
                  leftover.process_id == process_id(9) ? Fate::left : Fate::stopping);
    }
}

/// What a person or a policy resets is no command that is over.
TEST_P(ResetStory, WhatIsToRunOnIsNotStoppedAsALeftover) {
    for (const auto on_reset : {OnReset::warn, OnReset::keep}) {
        journal().state.set_reset_policies(idle_policy(10min, on_reset));
        const std::string id(on_reset == OnReset::warn ? "w" : "v");
        const auto pid = on_reset == OnReset::warn ? 7 : 8;
        auto opened = create(id, process_owner(300 + pid));
        opened.draft.key = id;
        opened.draft.leftovers = LeftoversPolicy::stop;
        journal().one(std::move(opened), at(1));
        journal().one(record_process(id, pid), at(1));
        const auto step = say(reset(id, /*force=*/true), at(2));
        ASSERT_TRUE(shown(id).end);
        EXPECT_EQ(shown(id).end->leftovers.at(0).fate, Fate::left);
        EXPECT_TRUE(effects_of<StopLeftovers>(step).empty());
        EXPECT_TRUE(effects_of<StopTree>(step).empty());
    }
    ASSERT_TRUE(journal().one(route("v", "next", 100), at(3)));
    EXPECT_EQ(process(8).session_id.text(), "next") << "kept";
}

TEST_P(ResetStory, APersonIsToldWhatWorksInWhatHasEnded) {
    runs(7, ProcessActivity::working, at(1));
    journal().group({gone(100, exited(1))}, at(5));
    EXPECT_EQ(refusal(journal().one(reset(key), at(6))).code, ErrorCode::blocked);
    EXPECT_TRUE(reset_now(reset(key, /*force=*/true), at(7)).is_suspended);
}

TEST_P(ResetStory, FollowsAPolicyThatLetsItGoSooner) {
    runs(7, ProcessActivity::working, at(1));
    journal().tick(at(600));
    ASSERT_TRUE(shown("k").reset_held_since);
    journal().state.set_reset_policies(idle_policy(10min, OnReset::warn, 2min));
    journal().tick(at(601));
    EXPECT_TRUE(shown("k").end) << "what holds it is too old by now";
}

TEST_P(ResetStory, KeepHandsWhatRunsToTheSuccessor) {
    journal().state.set_reset_policies(idle_policy(10min, OnReset::keep));
    runs(7, ProcessActivity::listening, at(1));
    // The message comes first.
    ASSERT_TRUE(journal().one(route(key, "next", 100), at(600)));
    EXPECT_EQ(process(7).session_id.text(), "next");
    EXPECT_EQ(shown("k").end->leftovers.at(0).fate, Fate::handed_over);

    // The watcher comes first.
    journal().tick(at(1300));
    ASSERT_TRUE(shown("next").end);
    EXPECT_EQ(process(7).session_id.text(), "next");
    ASSERT_TRUE(journal().one(route(key, "third", 100), at(1400)));
    EXPECT_EQ(process(7).session_id.text(), "third");
    journal().group({process_active(7, ProcessActivity::working)}, at(1401));
    EXPECT_EQ(status("third"), Status::background) << "it is its own now";
}

/// The message comes when its owner was only just seen to go.
TEST_P(ResetStory, KeepHandsWhatRunsToTheSuccessorOfOneWhoseOwnerIsGone) {
    journal().state.set_reset_policies(idle_policy(10min, OnReset::keep));
    runs(7, ProcessActivity::listening, at(1));
    const auto replies = journal().group({gone(100, exited(1)), route(key, "next", 200)}, at(600));
    ASSERT_TRUE(replies[1]) << replies[1].error().message;
    EXPECT_EQ(shown("k").end->reason, Reason::exited);
    EXPECT_EQ(shown("next").parent_id.text(), "k");
    EXPECT_EQ(process(7).session_id.text(), "next");
}

TEST_P(ResetStory, APersonIsToldWhatWorksAndMayForceIt) {
    runs(7, ProcessActivity::working, at(1));
    journal().state.set_reset_policies(std::make_shared<const ResetPolicies>());
    const auto error = refusal(journal().one(reset(key), at(40 * 3600)));
    EXPECT_EQ(error.code, ErrorCode::blocked) << "however old it is";
    ASSERT_TRUE(std::holds_alternative<BlockedBy>(error.facts));
    EXPECT_EQ(std::get<BlockedBy>(error.facts).blockers.at(0).pid, 7);
    EXPECT_FALSE(shown("k").end);

    const auto reply = reset_now(reset(key, /*force=*/true), at(40 * 3600 + 1));
    EXPECT_FALSE(reply.closed.already_ended);
    EXPECT_EQ(shown("k").end->reason, Reason::manual_reset);
    EXPECT_EQ(shown("k").end->proof, Proof::declared);
    const auto next = journal().one(route(key, "next", 100), at(40 * 3600 + 2));
    ASSERT_TRUE(next);
    EXPECT_EQ(shown("next").parent_id.text(), "k");
    EXPECT_FALSE(std::get<RoutedReply>(*next).auto_reset) << "a person asked for it";
}

TEST_P(ResetStory, AVouchedForSleeperBlocksAPersonToo) {
    runs(7, ProcessActivity::waiting, at(1));
    EXPECT_TRUE(journal().one(vouch(7, at(3600).wall), at(2)));
    EXPECT_EQ(refusal(journal().one(reset(key), at(3))).code, ErrorCode::blocked);
    EXPECT_TRUE(journal().one(vouch(7, std::nullopt), at(4)));
    EXPECT_FALSE(reset_now(reset(key), at(5)).closed.already_ended);
}

TEST_P(ResetStory, OneThatHadEndedIsNotGoneOnWithAfterAPersonsReset) {
    journal().group({gone(100, exited(1))}, at(5));
    ASSERT_TRUE(shown("k").end);
    const auto reply = reset_now(reset(key), at(6));
    EXPECT_TRUE(reply.closed.already_ended);
    EXPECT_TRUE(reply.is_suspended);
    EXPECT_FALSE(reset_now(reset(key), at(7)).is_suspended) << "once";
    const auto next = journal().one(route(key, "next", 200), at(8));
    ASSERT_TRUE(next);
    EXPECT_TRUE(std::get<RoutedReply>(*next).is_new);
    EXPECT_EQ(std::get<RoutedReply>(*next).auto_reset->reason, "suspended");
}

TEST_P(ResetStory, ASuspendedOneIsResetByTheNextMessageWhateverWorks) {
    runs(7, ProcessActivity::working, at(1));
    const auto reply = journal().one(suspend(key, "stuck in a loop"), at(2));
    ASSERT_TRUE(reply);
    EXPECT_TRUE(std::get<SuspendedReply>(*reply).changed);
    EXPECT_FALSE(shown("k").end) << "the next message does it";
    const auto next = journal().one(route(key, "next", 100), at(3));
    ASSERT_TRUE(next);
    EXPECT_EQ(std::get<RoutedReply>(*next).auto_reset->reason, "suspended");
    EXPECT_EQ(shown("k").end->reason, Reason::auto_reset);
    EXPECT_EQ(shown("k").end->detail, "suspended");
    EXPECT_NE(shown("k").end->evidence.find("stuck in a loop"), std::string::npos);
    const auto again = journal().one(route(key, "x", 100), at(4));
    EXPECT_EQ(std::get<RoutedReply>(*again).session.session_id.text(), "next");
}

TEST_P(ResetStory, NamesWhatIsNotThere) {
    EXPECT_EQ(refusal(journal().one(reset("nobody"), at(1))).code, ErrorCode::not_found);
    EXPECT_EQ(refusal(journal().one(suspend("nobody"), at(1))).code, ErrorCode::not_found);
    EXPECT_EQ(refusal(journal().one(Reset{{SessionId("none"), ""}, false, "x"}, at(1))).code,
              ErrorCode::not_found);
}

/// The key's own was replaced by one that its opener gave no key: it is what the key leads to.
TEST_P(ResetStory, ThePersonsKeyLeadsToWhatItsSessionWasReplacedBy) {
    journal().one(close("k", {}, Reason::compression), at(1));
    auto child = create("c", process_owner(300));
    child.draft.parent_id = SessionId("k");
    child.draft.relation = Relation::compression;
    journal().one(child, at(2));

    const auto suspended = journal().one(suspend(key), at(3));
    ASSERT_TRUE(suspended) << suspended.error().message;
    EXPECT_EQ(std::get<SuspendedReply>(*suspended).session_id.text(), "c");
    EXPECT_TRUE(shown("c").suspended_at);
    const auto reply = reset_now(reset(key), at(4));
    EXPECT_EQ(reply.closed.session_id.text(), "c");
    EXPECT_EQ(shown("c").end->reason, Reason::manual_reset);
}

TEST_P(ResetStory, AParkedOneObeysTheSamePolicy) {
    auto opened = create("p", process_owner(300));
    opened.draft.key = "parked";
    opened.draft.on_owner_loss = OnOwnerLoss::park;
    opened.draft.park_window = 3600s;
    journal().one(std::move(opened), at(0));
    journal().group({gone(300, exited(1))}, at(5));
    journal().tick(at(600));
    EXPECT_EQ(shown("p").end->reason, Reason::idle_expiry);
}

}  // namespace
}  // namespace knell::testing
