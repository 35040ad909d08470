// Each bound of a subscriber: at it, and just beside it.

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "deliver/backoff.hpp"
#include "deliver/subscriber.hpp"
#include "testing/commands.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::at;

const Outcome delivered{.kind = Outcome::Kind::delivered};
const Outcome failed{.kind = Outcome::Kind::failed, .what = "exit 1"};

RenderedEvent render_event(Seq seq, std::string session = "a") {
    return {.seq = seq,
            .id = fmt::format("e{}", seq),
            .type = "session:end",
            .session_id = std::move(session),
            .json = "{}"};
}
RenderedEventRef rendered(Seq seq, std::string session = "a") {
    return std::make_shared<const RenderedEvent>(render_event(seq, std::move(session)));
}
PendingDelivery waiting(Seq seq, std::chrono::milliseconds waited = 0ms,
                        std::string session = "a") {
    return {.subscriber = "ops",
            .rendered = render_event(seq, std::move(session)),
            .attempts = 1,
            .waited = waited,
            .next_try_at = at(0).wall};
}
PendingDelivery dead(Seq seq) {
    auto letter = waiting(seq, 80h, fmt::format("s{}", seq));
    letter.state = PendingState::dead;
    return letter;
}
Subscriber fresh(std::size_t concurrency = 1, Seq cursor = 0) {
    return Subscriber({.name = "ops", .cursor = cursor}, EventFilter::all(), concurrency);
}

TEST(SubscriberBounds, GivesUpOnceItHasWaitedThreeDaysNotBefore) {
    for (const auto& [waited, given_up] :
         {std::pair{give_up_after - 1ms, false}, {give_up_after, true}}) {
        auto subscriber = fresh(1, 9);
        subscriber.restore(waiting(5, waited), at(0));
        ASSERT_NE(subscriber.next_attempt(at(0)), nullptr);
        EXPECT_EQ(subscriber.finish(5, failed, at(0)), given_up) << waited.count();
        EXPECT_EQ(subscriber.dead(), given_up ? 1U : 0U);
        EXPECT_EQ(subscriber.waiting(), given_up ? 0U : 1U);
    }
}

TEST(SubscriberBounds, TenFailuresInARowAreAnOutageNineAreNot) {
    for (const int failures : {9, 10}) {
        auto subscriber = fresh();
        // One that waits for long, and others that fail.
        auto slow = waiting(1, 0ms, "slow");
        slow.next_try_at = at(3600).wall;
        subscriber.restore(slow, at(0));
        subscriber.passed(1);
        for (Seq seq = 2; seq <= 12; ++seq) {
            ASSERT_TRUE(subscriber.offer(rendered(seq, fmt::format("s{}", seq)), at(0)));
        }
        for (int i = 0; i < failures; ++i) {
            subscriber.finish(subscriber.next_attempt(at(0))->seq, failed, at(0));
        }
        EXPECT_EQ(subscriber.failing_streak(), failures);
        subscriber.finish(subscriber.next_attempt(at(0))->seq, delivered, at(0));
        EXPECT_EQ(subscriber.failing_streak(), 0);
        std::set<Seq> due;
        while (const auto next = subscriber.next_attempt(at(0))) {
            due.insert(next->seq);
            subscriber.finish(next->seq, delivered, at(0));
        }
        EXPECT_EQ(due.contains(1), failures == 10) << failures;
    }
}

TEST(SubscriberBounds, ReadsNoMoreThanItsWindow) {
    auto subscriber = fresh();
    for (Seq seq = 1; seq < static_cast<Seq>(limits::delivery_window_max); ++seq) {
        ASSERT_TRUE(subscriber.offer(rendered(seq, fmt::format("s{}", seq)), at(0)));
    }
    EXPECT_TRUE(subscriber.has_room());
    const auto last = static_cast<Seq>(limits::delivery_window_max);
    EXPECT_TRUE(subscriber.offer(rendered(last, "last"), at(0)));
    EXPECT_FALSE(subscriber.has_room());
    EXPECT_FALSE(subscriber.offer(rendered(last + 1, "over"), at(0)));
    EXPECT_EQ(subscriber.read_to(), last);
    subscriber.finish(subscriber.next_attempt(at(0))->seq, delivered, at(0));
    EXPECT_TRUE(subscriber.has_room());
}

TEST(SubscriberBounds, StopsReadingWhenTooManyLettersWait) {
    auto subscriber = fresh(1, 1'000'000);
    for (Seq seq = 1; seq < static_cast<Seq>(limits::letters_waiting_max); ++seq) {
        subscriber.restore(waiting(seq, 0ms, fmt::format("s{}", seq)), at(0));
    }
    EXPECT_TRUE(subscriber.has_room());
    subscriber.restore(waiting(99'999, 0ms, "last"), at(0));
    EXPECT_EQ(subscriber.waiting(), limits::letters_waiting_max);
    EXPECT_FALSE(subscriber.has_room());
}

TEST(SubscriberBounds, TheOldestOfTooManyDeadLettersIsLostAndCounted) {
    auto subscriber = fresh(1, 1'000'000);
    for (Seq seq = 1; seq < static_cast<Seq>(limits::letters_dead_max); ++seq) {
        subscriber.restore(dead(seq + 10), at(0));
    }
    for (const Seq seq : {100'001, 100'002}) {
        subscriber.restore(waiting(seq, give_up_after, fmt::format("s{}", seq)), at(0));
        ASSERT_NE(subscriber.next_attempt(at(0)), nullptr);
        ASSERT_TRUE(subscriber.finish(seq, failed, at(0)));
        EXPECT_EQ(subscriber.dead(), limits::letters_dead_max);
        EXPECT_EQ(subscriber.subscription().lost, seq - 100'001) << "as many as fit are kept";
    }
    const auto changes = subscriber.take_changes();
    const auto* dropped = std::get_if<PendingDropped>(&changes.back());
    ASSERT_NE(dropped, nullptr);
    EXPECT_EQ(dropped->seq, 11);
    EXPECT_EQ(dropped->subscriber, "ops");
}

TEST(SubscriberBounds, AfterARestartALetterWaitsAsLongAsItHadTo) {
    const auto wait_of = [](std::chrono::seconds left) {
        auto subscriber = fresh(1, 9);
        auto letter = waiting(5);
        letter.next_try_at = at(100).wall + left;
        subscriber.restore(letter, at(100));
        return *subscriber.next_try() - at(100).steady;
    };
    EXPECT_EQ(wait_of(30s), 30s);
    EXPECT_EQ(wait_of(-30s), 0s) << "overdue";
    EXPECT_EQ(wait_of(24h), 24h);
    EXPECT_EQ(wait_of(25h), 24h) << "no longer than the longest delay";
}

TEST(SubscriberBounds, ARetryAfterShorterThanItsOwnDelayChangesNothing) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.next_attempt(at(0));
    auto busy = failed;
    busy.retry_after = 1s;
    subscriber.finish(1, busy, at(0));
    EXPECT_EQ(*subscriber.next_try() - at(0).steady, backoff("ops", 1, 1));
}

TEST(SubscriberBounds, EachFailureWaitsLongerAndIsAddedUp) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    auto now = at(0);
    std::chrono::milliseconds waited{0};
    for (int failures = 1; failures <= 5; ++failures) {
        ASSERT_NE(subscriber.next_attempt(now), nullptr);
        subscriber.finish(1, failed, now);
        waited += backoff("ops", 1, failures);
        ASSERT_EQ(*subscriber.next_try() - now.steady, backoff("ops", 1, failures));
        const auto letter = subscriber.letters(now).at(0);
        EXPECT_EQ(letter.attempts, failures);
        EXPECT_EQ(letter.waited, waited);
        EXPECT_EQ(letter.next_try_at, now.wall + backoff("ops", 1, failures));
        now.steady = *subscriber.next_try();
    }
    EXPECT_EQ(subscriber.subscription().failures, 5);
    EXPECT_EQ(subscriber.subscription().last_error, "exit 1");
}

TEST(SubscriberBounds, ACursorThatMovedIsAChangeAndOneThatDidNotIsNone) {
    auto subscriber = fresh(1, 9);
    subscriber.passed(9);
    EXPECT_FALSE(subscriber.has_changes());
    subscriber.passed(10);
    EXPECT_TRUE(subscriber.has_changes());
    const auto changes = subscriber.take_changes();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(std::get<SubscriptionSaved>(changes[0]).subscription.cursor, 10);
    EXPECT_TRUE(subscriber.take_changes().empty());
}

TEST(SubscriberBounds, ANewSpecCountsFromTheNextAttemptOn) {
    auto subscriber = fresh(1);
    for (Seq seq = 1; seq <= 3; ++seq)
        subscriber.offer(rendered(seq, fmt::format("s{}", seq)), at(0));
    ASSERT_NE(subscriber.next_attempt(at(0)), nullptr);
    ASSERT_EQ(subscriber.next_attempt(at(0)), nullptr);
    EventFilter ends;
    ends.add("session:end");
    subscriber.set_spec(ends, 2);
    EXPECT_NE(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_TRUE(subscriber.filter().wants(EventType::session_end));
    EXPECT_FALSE(subscriber.filter().wants(EventType::session_start));
}

TEST(SubscriberBounds, RetryNowLeavesWhatIsUnderWayAlone) {
    auto subscriber = fresh(/*concurrency=*/2);
    subscriber.offer(rendered(1, "one"), at(0));
    subscriber.offer(rendered(2, "two"), at(0));
    ASSERT_EQ(subscriber.next_attempt(at(0))->seq, 1);
    subscriber.retry_now(at(0));
    ASSERT_EQ(subscriber.next_attempt(at(0))->seq, 2);
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr) << "nothing is tried twice at once";
    EXPECT_EQ(subscriber.under_way(), 2U);
}

TEST(SubscriberBounds, WhatIsPausedIsNotTriedAndGoesOnAtOnce) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.pause();
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_EQ(subscriber.next_try(), std::nullopt);
    EXPECT_FALSE(subscriber.has_room());
    EXPECT_TRUE(subscriber.has_changes());
    EXPECT_FALSE(subscriber.has_letters());
    subscriber.take_changes();
    EXPECT_FALSE(subscriber.has_changes());
    subscriber.resume(at(5));
    EXPECT_TRUE(subscriber.has_changes());
    EXPECT_EQ(subscriber.next_attempt(at(5))->seq, 1);
}

TEST(SubscriberBounds, WhatIsBehindAFailureIsDueOnceThatIsDelivered) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.offer(rendered(2), at(0));
    subscriber.next_attempt(at(0));
    subscriber.finish(1, failed, at(0));
    EXPECT_EQ(subscriber.subscription().cursor, 2);
    EXPECT_EQ(subscriber.waiting(), 2U);
    subscriber.offer(rendered(3), at(1));
    EXPECT_EQ(subscriber.waiting(), 3U) << "also what came later";
    EXPECT_EQ(subscriber.subscription().cursor, 3);
    ASSERT_EQ(subscriber.next_attempt(at(10))->seq, 1);
    subscriber.finish(1, delivered, at(10));
    EXPECT_EQ(subscriber.waiting(), 2U);
    ASSERT_EQ(subscriber.next_attempt(at(10))->seq, 2);
    EXPECT_EQ(subscriber.subscription().last_delivery_at, at(10).wall);
}

}  // namespace
}  // namespace knell
