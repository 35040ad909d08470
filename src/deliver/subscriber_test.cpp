#include "deliver/subscriber.hpp"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/limits.hpp"
#include "deliver/backoff.hpp"
#include "testing/commands.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::at;

RenderedEventRef rendered(Seq seq, std::string session = "a") {
    return std::make_shared<const RenderedEvent>(RenderedEvent{.seq = seq,
                                                               .id = fmt::format("e{}", seq),
                                                               .type = "session:end",
                                                               .time = "2026-11-15T00:00:00.000Z",
                                                               .session_id = std::move(session),
                                                               .json = "{}"});
}

Subscriber fresh(std::size_t concurrency = 1) {
    return Subscriber({.name = "ops"}, EventFilter::all(), concurrency);
}

const Outcome delivered{.kind = Outcome::Kind::delivered};
const Outcome failed{.kind = Outcome::Kind::failed, .what = "exit 1"};

/// What a store would hold after these changes.
struct Record {
    Subscription row;
    std::map<Seq, PendingDelivery> letters;

    void take(const std::vector<DeliveryChange>& changes) {
        for (const auto& change : changes) {
            if (const auto* saved = std::get_if<SubscriptionSaved>(&change)) {
                row = saved->subscription;
            } else if (const auto* letter = std::get_if<PendingSaved>(&change)) {
                letters[letter->letter.rendered.seq] = letter->letter;
            } else if (const auto* dropped = std::get_if<PendingDropped>(&change)) {
                letters.erase(dropped->seq);
            }
        }
    }
    Subscriber restart(Now now, std::size_t concurrency = 1) const {
        Subscriber subscriber(row, EventFilter::all(), concurrency);
        for (const auto& [seq, letter] : letters) subscriber.restore(letter, now);
        return subscriber;
    }
};

TEST(Subscriber, IsTriedAgainNoMoreOftenThanItMay) {
    Subscriber once({.name = "ops"}, EventFilter::all(), 1, /*retries=*/0);
    once.offer(rendered(1), at(0));
    ASSERT_TRUE(once.next_attempt(at(0)));
    EXPECT_TRUE(once.finish(1, failed, at(0))) << "it is given up at once";
    EXPECT_EQ(once.dead(), 1U);
    EXPECT_EQ(once.waiting(), 0U);
    EXPECT_EQ(once.patience(), "1 attempt");
    once.check_invariants();

    Subscriber twice({.name = "ops"}, EventFilter::all(), 1, /*retries=*/1);
    twice.offer(rendered(1), at(0));
    ASSERT_TRUE(twice.next_attempt(at(0)));
    EXPECT_FALSE(twice.finish(1, failed, at(0)));
    ASSERT_TRUE(twice.next_attempt(at(3600)));
    EXPECT_TRUE(twice.finish(1, failed, at(3600)));
    EXPECT_EQ(twice.patience(), "2 attempts");
    EXPECT_EQ(fresh().patience(), "three days");
}

TEST(Subscriber, IsGivenTheEventsOfASessionOneAfterTheOther) {
    auto subscriber = fresh(/*concurrency=*/4);
    subscriber.offer(rendered(1), at(0));
    subscriber.offer(rendered(2), at(0));
    EXPECT_EQ(subscriber.next_attempt(at(0))->seq, 1);
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr);
    subscriber.finish(1, delivered, at(0));
    EXPECT_EQ(subscriber.next_attempt(at(0))->seq, 2);
    EXPECT_EQ(subscriber.subscription().cursor, 1);
}

TEST(Subscriber, IsGivenTheOrderOfTheLogWhereNothingFails) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1, "a"), at(0));
    EXPECT_EQ(subscriber.next_attempt(at(0))->seq, 1);
    // The end of one and the start of the one that takes its place, told in one step.
    subscriber.offer(rendered(2, "a"), at(1));
    subscriber.offer(rendered(3, "b"), at(1));
    subscriber.finish(1, delivered, at(2));
    EXPECT_EQ(subscriber.next_attempt(at(2))->seq, 2);
    subscriber.finish(2, delivered, at(3));
    EXPECT_EQ(subscriber.next_attempt(at(3))->seq, 3);
}

TEST(Subscriber, IsGivenSeveralSessionsAtOnceUpToItsConcurrency) {
    auto subscriber = fresh(/*concurrency=*/2);
    for (Seq seq = 1; seq <= 3; ++seq)
        subscriber.offer(rendered(seq, fmt::format("s{}", seq)), at(0));
    EXPECT_NE(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_NE(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr);
}

TEST(Subscriber, AFailureHoldsUpItsOwnSessionAndNobodyElses) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1, "bad"), at(0));
    subscriber.offer(rendered(2, "bad"), at(0));
    subscriber.offer(rendered(3, "good"), at(0));
    subscriber.next_attempt(at(0));
    subscriber.finish(1, failed, at(0));

    EXPECT_EQ(subscriber.next_attempt(at(0))->seq, 3);
    subscriber.finish(3, delivered, at(0));
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_EQ(subscriber.subscription().cursor, 3) << "what waits is kept as letters";
    EXPECT_EQ(subscriber.waiting(), 2U);
    EXPECT_EQ(subscriber.next_attempt(at(6))->seq, 1);
}

TEST(Subscriber, IsPatientForThreeDaysAndThenGivesUp) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.offer(rendered(2), at(0));
    Record record;
    Now now = at(0);
    const auto start = now.steady;
    int attempts = 0;
    for (bool given_up = false; !given_up; ++attempts) {
        now.steady = *subscriber.next_try();
        ASSERT_NE(subscriber.next_attempt(now), nullptr);
        given_up = subscriber.finish(1, failed, now);
        record.take(subscriber.take_changes());
    }
    EXPECT_GE(now.steady - start, give_up_after);
    EXPECT_LT(now.steady - start, give_up_after + 8h);
    EXPECT_GT(attempts, 12);
    EXPECT_EQ(subscriber.dead(), 1U);
    EXPECT_EQ(record.letters.at(1).state, PendingState::dead);
    EXPECT_EQ(record.letters.at(1).last_error, "exit 1");
    EXPECT_EQ(subscriber.next_attempt(now)->seq, 2) << "its session goes on";
}

TEST(Subscriber, ADeadLetterCanBeSentAgain) {
    Record record;
    record.row = {.name = "ops", .cursor = 9};
    record.letters[4] = {.subscriber = "ops",
                         .rendered = *rendered(4),
                         .state = PendingState::dead,
                         .attempts = 18,
                         .waited = 80h};
    auto subscriber = record.restart(at(0));
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr);
    EXPECT_TRUE(subscriber.revive(record.letters.at(4), at(0)));
    EXPECT_FALSE(subscriber.revive(record.letters.at(4), at(0))) << "once";
    EXPECT_EQ(subscriber.next_attempt(at(0))->seq, 4);
    subscriber.finish(4, delivered, at(0));
    record.take(subscriber.take_changes());
    EXPECT_TRUE(record.letters.empty());
}

TEST(Subscriber, ALetterThatIsSentAgainHasAllTheTimeOfANewOne) {
    const PendingDelivery dead{.subscriber = "ops",
                               .rendered = *rendered(4),
                               .state = PendingState::dead,
                               .attempts = 18,
                               .waited = 80h,
                               .last_error = "exit 1"};
    auto subscriber = fresh();
    subscriber.restore(dead, at(0));
    ASSERT_TRUE(subscriber.revive(dead, at(10)));
    auto saved = dead;
    saved.state = PendingState::waiting;
    saved.attempts = 0;
    saved.waited = 0ms;
    saved.next_try_at = at(10).wall;
    const auto changes = subscriber.take_changes();
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(std::get<PendingSaved>(changes[1]).letter, saved);

    ASSERT_NE(subscriber.next_attempt(at(10)), nullptr);
    EXPECT_FALSE(subscriber.finish(4, failed, at(10))) << "it is given up at once";

    EXPECT_EQ(subscriber.dead(), 0U);
    EXPECT_EQ(subscriber.waiting(), 1U);
    EXPECT_EQ(*subscriber.next_try() - at(10).steady, backoff("ops", 4, 1));
}

TEST(Subscriber, ALetterThatIsSentAgainDoesNotOvertakeWhatIsUnderWay) {
    auto subscriber = fresh(/*concurrency=*/2);
    subscriber.passed(8);
    const PendingDelivery dead{
        .subscriber = "ops", .rendered = *rendered(4), .state = PendingState::dead, .waited = 80h};
    subscriber.restore(dead, at(0));
    subscriber.offer(rendered(9), at(0));
    subscriber.offer(rendered(10), at(0));
    ASSERT_EQ(subscriber.next_attempt(at(0))->seq, 9);

    ASSERT_TRUE(subscriber.revive(dead, at(0)));
    EXPECT_EQ(subscriber.next_attempt(at(0)), nullptr) << "one of a session at a time";
    EXPECT_EQ(subscriber.next_try(), std::nullopt);
    subscriber.finish(9, delivered, at(0));

    for (const Seq seq : {4, 10}) {
        const auto next = subscriber.next_attempt(at(0));
        ASSERT_NE(next, nullptr);
        EXPECT_EQ(next->seq, seq);
        subscriber.finish(seq, delivered, at(0));
    }
    EXPECT_EQ(subscriber.subscription().cursor, 10);
    EXPECT_EQ(subscriber.subscription().delivered, 3);
    EXPECT_EQ(subscriber.waiting(), 0U);
}

TEST(Subscriber, ObeysRetryAfter) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.next_attempt(at(0));
    auto busy = failed;
    busy.retry_after = 600s;
    subscriber.finish(1, busy, at(0));
    EXPECT_EQ(subscriber.next_attempt(at(599)), nullptr);
    EXPECT_NE(subscriber.next_attempt(at(600)), nullptr);
}

TEST(Subscriber, OneThatIsGoneGetsNothingMoreUntilItIsResumed) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.next_attempt(at(0));
    subscriber.finish(1, {.kind = Outcome::Kind::gone, .what = "HTTP 410"}, at(0));
    EXPECT_EQ(subscriber.subscription().state, SubscriberState::disabled);
    EXPECT_FALSE(subscriber.offer(rendered(2), at(0)));
    EXPECT_EQ(subscriber.next_try(), std::nullopt);
    subscriber.resume(at(1));
    EXPECT_EQ(subscriber.next_attempt(at(1))->seq, 1);
}

TEST(Subscriber, AfterAnOutageEverythingThatWaitsIsDue) {
    auto subscriber = fresh();
    for (Seq seq = 1; seq <= 12; ++seq) {
        subscriber.offer(rendered(seq, fmt::format("s{}", seq)), at(0));
    }
    for (int i = 0; i < 12; ++i) {
        const auto tried = subscriber.next_attempt(at(0));
        ASSERT_NE(tried, nullptr);
        subscriber.finish(tried->seq, failed, at(0));
    }
    EXPECT_EQ(subscriber.next_attempt(at(1)), nullptr);
    const auto first = subscriber.next_attempt(at(8));
    ASSERT_NE(first, nullptr);
    subscriber.finish(first->seq, delivered, at(8));
    for (int i = 0; i < 11; ++i) {
        const auto next = subscriber.next_attempt(at(8));
        ASSERT_NE(next, nullptr);
        subscriber.finish(next->seq, delivered, at(8));
    }
    EXPECT_EQ(subscriber.waiting(), 0U);
}

TEST(Subscriber, StopsReadingWhenTooMuchWaits) {
    auto subscriber = fresh();
    Seq seq = 0;
    while (subscriber.offer(rendered(seq + 1, fmt::format("s{}", seq)), at(0))) ++seq;
    EXPECT_EQ(seq, static_cast<Seq>(limits::delivery_window_max));
}

TEST(Subscriber, ALetterBeyondTheCursorIsNotTakenFromTheLogAgain) {
    auto subscriber = fresh(/*concurrency=*/2);
    subscriber.offer(rendered(1, "under way"), at(0));
    subscriber.offer(rendered(2, "failing"), at(0));
    subscriber.next_attempt(at(0));
    subscriber.next_attempt(at(0));
    subscriber.finish(2, failed, at(0));
    Record record;
    record.take(subscriber.take_changes());
    ASSERT_EQ(record.row.cursor, 0);

    auto after = record.restart(at(60), /*concurrency=*/2);
    after.offer(rendered(1, "under way"), at(60));
    after.offer(rendered(2, "failing"), at(60));
    EXPECT_EQ(after.next_attempt(at(60))->seq, 1);
    EXPECT_EQ(after.next_attempt(at(60))->seq, 2) << "the letter, and no second one of it";
    after.finish(1, delivered, at(60));
    after.finish(2, delivered, at(60));
    EXPECT_EQ(after.next_attempt(at(60)), nullptr);
    EXPECT_EQ(after.subscription().cursor, 2);
}

TEST(Subscriber, TheCursorWaitsBeforeAGapUntilItIsTold) {
    auto subscriber = fresh();
    subscriber.lose({.from = 1, .to = 8}, rendered(8, ""), at(0));
    EXPECT_EQ(subscriber.subscription().cursor, 0);
    subscriber.next_attempt(at(0));
    subscriber.finish(8, delivered, at(0));
    EXPECT_EQ(subscriber.subscription().cursor, 8);
}

TEST(Subscriber, TheClockMayBeSetWhileALetterWaits) {
    auto subscriber = fresh();
    subscriber.offer(rendered(1), at(0));
    subscriber.next_attempt(at(0));
    subscriber.finish(1, failed, at(0));
    Record record;
    record.take(subscriber.take_changes());
    auto now = at(0);
    now.wall -= 24h * 365;
    auto later = record.restart(now);
    EXPECT_LE(*later.next_try() - now.steady, 24h) << "a year back is not a year's wait";
}

TEST(Subscriber, ALetterInsideAGapIsDeliveredWithoutTheGapCountingAsTold) {
    const PendingDelivery letter{.subscriber = "ops", .rendered = *rendered(1, "a"), .attempts = 1};
    auto subscriber = fresh();
    subscriber.restore(letter, at(0));
    subscriber.lose({1, 5}, rendered(5, ""), at(0));
    ASSERT_EQ(subscriber.next_attempt(at(0))->seq, 1);

    subscriber.finish(1, delivered, at(0));

    subscriber.check_invariants();
    EXPECT_EQ(subscriber.subscription().cursor, 0) << "a crash now must tell of the gap again";
    ASSERT_EQ(subscriber.next_attempt(at(0))->seq, 5);
    subscriber.finish(5, delivered, at(0));
    EXPECT_EQ(subscriber.subscription().cursor, 5);
}

/// Any story of failures, crashes and pauses: each event is delivered, in order for its session,
/// and a second time only after a crash.
RC_GTEST_PROP(SubscriberProperty, NothingIsMissedAndSessionsStayInOrder, ()) {
    const auto concurrency = *rc::gen::inRange<std::size_t>(1, 5);
    const Seq last = *rc::gen::inRange<Seq>(1, 60);
    Record record{.row = {.name = "ops"}, .letters = {}};
    auto subscriber = record.restart(at(0), concurrency);
    Now now = at(0);
    std::vector<RenderedEventRef> under_way;
    std::map<std::string, std::vector<Seq>> heard;
    int crashes = 0;
    std::map<Seq, int> failures;  // too few to give an event up
    const auto session_of = [](Seq seq) { return fmt::format("s{}", seq % 5); };
    const auto feed = [&] {
        while (subscriber.read_to() < last) {
            const auto seq = subscriber.read_to() + 1;
            if (!subscriber.offer(rendered(seq, session_of(seq)), now)) return;
        }
    };
    const auto done = [&] {
        return subscriber.read_to() == last && subscriber.waiting() == 0 &&
               subscriber.subscription().cursor == last && under_way.empty();
    };
    for (int step = 0; step < 4000 && !done(); ++step) {
        feed();
        while (auto next = subscriber.next_attempt(now)) under_way.push_back(std::move(next));
        subscriber.check_invariants();
        RC_ASSERT(under_way.size() <= concurrency);
        const auto dice = step < 400 ? *rc::gen::inRange(0, 10) : 5;
        if (dice == 0 && crashes < 5) {
            ++crashes;
            under_way.clear();
            subscriber = record.restart(now, concurrency);
        } else if (dice == 1) {
            record.take(subscriber.take_changes());
        } else if (!under_way.empty()) {
            const auto which = static_cast<std::size_t>(step) % under_way.size();
            const auto one = under_way[which];
            under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
            if (dice <= 4 && ++failures[one->seq] < 10) {
                subscriber.finish(one->seq, failed, now);
            } else {
                heard[one->session_id].push_back(one->seq);
                subscriber.finish(one->seq, delivered, now);
            }
        } else if (const auto next = subscriber.next_try()) {
            now.steady = std::max(now.steady, *next);
        }
    }
    RC_ASSERT(done());
    std::size_t different = 0;
    for (const auto& [session, seqs] : heard) {
        std::set<Seq> seen;
        Seq expected_max = 0;
        for (const auto seq : seqs) {
            // The first time each comes in order; a repeat is one that was heard before.
            if (seen.insert(seq).second) {
                RC_ASSERT(seq > expected_max);
                expected_max = seq;
            } else {
                RC_ASSERT(crashes > 0);
            }
        }
        different += seen.size();
    }
    RC_ASSERT(different == static_cast<std::size_t>(last));
}

}  // namespace
}  // namespace knell
