// Subscribers, the log and what is kept of both, on every store.

#include "deliver/delivery_scheduler.hpp"

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

const Outcome delivered{.kind = Outcome::Kind::delivered};
const Outcome failed{.kind = Outcome::Kind::failed, .what = "exit 1"};

SubscriberSpec spec(std::string name, std::string_view events = "*", std::size_t concurrency = 1) {
    SubscriberSpec spec{.name = std::move(name), .events = {}, .concurrency = concurrency};
    spec.events.add(events);
    return spec;
}

/// A log that grows, and a scheduler that can be restarted.
class DeliverySchedulerStory : public StoreStory {
  protected:
    DeliverySchedulerStory() { start_over(); }

    void start_over() {
        scheduler_ = std::make_unique<DeliveryScheduler>("node", head());
        EXPECT_TRUE(scheduler_->recover(reader()));
    }
    Seq head() { return journal().state.heads().seq; }
    void commit(Input input) {
        EXPECT_TRUE(journal().one(std::move(input)));
        scheduler_->set_head(head());
    }
    void live_and_die(const std::string& id) {
        commit(create(id));
        commit(close(id));
    }
    void save() {
        scheduler_->check_invariants();
        commit(SaveDeliveries{scheduler_->take_changes()});
    }
    void delete_all_but(std::int64_t events) {
        const auto heads = store().heads();
        ASSERT_TRUE(heads);
        EXPECT_TRUE(store().trim_events(heads->seq - events, 1000));
    }

    /// Reads and tries until nothing is due; every attempt goes as `outcome` says.
    std::vector<std::string> deliver(const Outcome& outcome, Now now = at(0)) {
        std::vector<std::string> heard;
        for (;;) {
            EXPECT_TRUE(scheduler_->read(reader(), now));
            const auto attempts = scheduler_->due(now);
            scheduler_->check_invariants();
            if (attempts.empty() && !scheduler_->is_behind()) return heard;
            for (const auto& attempt : attempts) {
                heard.push_back(fmt::format("{} {}", attempt.subscriber, attempt.rendered->id));
                scheduler_->finish(attempt.id, outcome, now);
            }
        }
    }

    std::unique_ptr<DeliveryScheduler> scheduler_;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, DeliverySchedulerStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(DeliverySchedulerStory, ANewSubscriberHearsWhatComesAfterItCame) {
    live_and_die("before");
    scheduler_->set_subscribers({spec("ops", "session:*")}, at(0));
    live_and_die("after");
    EXPECT_EQ(deliver(delivered),
              (std::vector<std::string>{"ops after_1_start", "ops after_1_end"}));
}

TEST_P(DeliverySchedulerStory, EachHearsWhatItAskedFor) {
    scheduler_->set_subscribers({spec("ends", "session:end"), spec("turns", "agent:*")}, at(0));
    commit(create("a"));
    commit(turn("a", 1, true));
    commit(close("a"));
    const auto heard = deliver(delivered);
    EXPECT_EQ(std::ranges::count(heard, "ends a_1_end"), 1);
    EXPECT_EQ(heard.size(), 3U);
}

TEST_P(DeliverySchedulerStory, AKnownOneGoesOnWhereItWasAfterARestart) {
    scheduler_->set_subscribers({spec("ops", "session:*")}, at(0));
    live_and_die("a");
    deliver(delivered);
    save();
    live_and_die("b");
    start_over();
    scheduler_->set_subscribers({spec("ops", "session:*")}, at(0));
    EXPECT_EQ(deliver(delivered), (std::vector<std::string>{"ops b_1_start", "ops b_1_end"}));
}

TEST_P(DeliverySchedulerStory, OneThatIsRemovedAndComesBackHasMissedNothing) {
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    live_and_die("a");
    EXPECT_TRUE(scheduler_->read(reader(), at(0)));
    const auto attempts = scheduler_->due(at(0));
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(scheduler_->set_subscribers({}, at(0)), std::vector{attempts.front().id});
    scheduler_->finish(attempts.front().id, delivered, at(0));  // too late: nobody waits for it
    live_and_die("b");
    ASSERT_EQ(scheduler_->report(at(0)).size(), 1U);
    EXPECT_TRUE(scheduler_->report(at(0)).front().absent);
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    EXPECT_EQ(deliver(delivered), (std::vector<std::string>{"ops a_1_end", "ops b_1_end"}));
}

TEST_P(DeliverySchedulerStory, WhatWasNotSavedWhenItWasRemovedIsSavedAllTheSame) {
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    save();
    live_and_die("a");
    deliver(failed);
    scheduler_->set_subscribers({}, at(0));
    EXPECT_TRUE(scheduler_->has_changes());
    EXPECT_TRUE(scheduler_->has_urgent_changes());
    save();

    const auto letters = reader().letters({.subscriber = "ops", .limit = 10});
    ASSERT_EQ(letters->size(), 1U);
    EXPECT_EQ(letters->front().attempts, 1);
    EXPECT_EQ(letters->front().last_error, "exit 1");
    const auto subscriptions = reader().subscriptions();
    EXPECT_EQ(subscriptions->front().cursor, 2) << "the letter is beyond it, and would be doubled";
    EXPECT_EQ(subscriptions->front().failures, 1);
    start_over();
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    EXPECT_TRUE(deliver(delivered, at(1)).empty()) << "it still waits";
    EXPECT_EQ(deliver(delivered, at(60)), std::vector<std::string>{"ops a_1_end"});
}

TEST_P(DeliverySchedulerStory, OnlyOneThatIsGoneCanBeForgotten) {
    using enum DeliveryScheduler::Forgetting;
    scheduler_->set_subscribers({spec("ops")}, at(0));
    EXPECT_EQ(scheduler_->forget("ops"), still_there);
    EXPECT_EQ(scheduler_->forget("nobody"), unknown);
    scheduler_->set_subscribers({}, at(0));
    EXPECT_EQ(scheduler_->forget("ops"), forgotten);
    EXPECT_EQ(scheduler_->forget("ops"), unknown) << "it is forgotten already";
    save();
    EXPECT_TRUE(reader().subscriptions()->empty());
}

TEST_P(DeliverySchedulerStory, WhoIsForgottenAndComesBackHearsNothingFromBefore) {
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    live_and_die("failed");
    deliver(failed);
    scheduler_->set_subscribers({}, at(0));
    live_and_die("missed");
    scheduler_->forget("ops");
    // Its file was there again, or still, before all that; it could only not be used.
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0), /*from=*/0);
    live_and_die("after");
    EXPECT_EQ(deliver(delivered, at(60)), std::vector<std::string>{"ops after_1_end"});
    save();
    EXPECT_TRUE(reader().letters({.subscriber = "ops", .limit = 10})->empty());
}

TEST_P(DeliverySchedulerStory, WhatTheLogDeletedIsToldAsAGapNeverPassedOver) {
    scheduler_->set_subscribers({spec("ops", "session:*")}, at(0));
    scheduler_->pause("ops");
    for (int i = 0; i < 10; ++i) live_and_die(fmt::format("s{}", i));
    delete_all_but(4);
    scheduler_->resume("ops", at(0));
    const auto heard = deliver(delivered);
    ASSERT_EQ(heard.size(), 5U);
    EXPECT_EQ(heard.front(), "ops node_gap_1_16");
    EXPECT_EQ(scheduler_->report(at(0)).front().subscription.lost, 16);
    EXPECT_EQ(scheduler_->take_notices().size(), 1U);
}

TEST_P(DeliverySchedulerStory, LettersSurviveARestartAndTheirEventsBeingDeleted) {
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    live_and_die("a");
    deliver(failed);
    save();
    live_and_die("b");
    live_and_die("c");
    delete_all_but(1);
    start_over();
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    EXPECT_EQ(scheduler_->report(at(0)).front().waiting, 1U);
    const auto heard = deliver(delivered, at(60));
    EXPECT_EQ(std::ranges::count(heard, "ops a_1_end"), 1);
}

TEST_P(DeliverySchedulerStory, DeadLettersAreSentAgainWhenAPersonSaysSo) {
    scheduler_->set_subscribers({spec("ops", "session:end")}, at(0));
    live_and_die("a");
    Now now = at(0);
    while (scheduler_->report(now).front().dead == 0) {
        deliver(failed, now);
        if (const auto next = scheduler_->next_try()) now.steady = std::max(now.steady, *next);
    }
    save();
    EXPECT_TRUE(deliver(delivered, now).empty());
    EXPECT_EQ(scheduler_->take_notices().size(), 1U) << "a person hears of it once";
    EXPECT_EQ(scheduler_->retry("ops", reader(), now).value(), 1U);
    EXPECT_EQ(deliver(delivered, now), std::vector<std::string>{"ops a_1_end"});
    save();
    EXPECT_TRUE(reader().letters({.limit = 10})->empty());
}

TEST_P(DeliverySchedulerStory, AHundredSubscribersReadTheLogOnce) {
    std::vector<SubscriberSpec> subscriber_config;
    for (int i = 0; i < 100; ++i)
        subscriber_config.push_back(spec(fmt::format("s{:03}", i), "session:end"));
    scheduler_->set_subscribers(subscriber_config, at(0));
    for (int i = 0; i < 20; ++i) live_and_die(fmt::format("a{}", i));
    EXPECT_EQ(deliver(delivered).size(), 2000U);
    for (const auto& report : scheduler_->report(at(0))) EXPECT_EQ(report.lag, 0);
}

}  // namespace
}  // namespace knell::testing
