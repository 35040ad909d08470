// Subscribers, the log and what is kept of both, on every store.

#include "deliver/courier.hpp"

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

const Outcome delivered{.kind = Outcome::Kind::delivered};
const Outcome failed{.kind = Outcome::Kind::failed, .what = "exit 1"};

Terms terms(std::string name, std::string_view events = "*", std::size_t concurrency = 1) {
    Terms terms{.name = std::move(name), .events = {}, .concurrency = concurrency};
    terms.events.add(events);
    return terms;
}

/// A log that grows, and a courier that can be restarted.
class CourierStory : public StoreStory {
  protected:
    CourierStory() { start_over(); }

    void start_over() {
        courier_ = std::make_unique<Courier>("node", head());
        EXPECT_TRUE(courier_->recover(reader()));
    }
    Seq head() { return journal().state.heads().seq; }
    void commit(Command command) {
        EXPECT_TRUE(journal().one(std::move(command)));
        courier_->set_head(head());
    }
    void live_and_die(const std::string& id) {
        commit(create(id));
        commit(close(id));
    }
    void save() { commit(SaveDeliveries{courier_->take_changes()}); }
    void let_go_of_all_but(std::int64_t events) {
        const auto heads = store().heads();
        ASSERT_TRUE(heads);
        EXPECT_TRUE(store().trim_events(heads->seq - events, 1000));
    }

    /// Reads and tries until nothing is due; every attempt goes as `outcome` says.
    std::vector<std::string> deliver(const Outcome& outcome, Now now = at(0)) {
        std::vector<std::string> heard;
        for (;;) {
            EXPECT_TRUE(courier_->read(reader(), now));
            const auto attempts = courier_->due(now);
            if (attempts.empty() && !courier_->is_behind()) return heard;
            for (const auto& attempt : attempts) {
                heard.push_back(fmt::format("{} {}", attempt.subscriber, attempt.parcel->id));
                courier_->finish(attempt.id, outcome, now);
            }
        }
    }

    std::unique_ptr<Courier> courier_;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, CourierStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(CourierStory, ANewSubscriberHearsWhatComesAfterItCame) {
    live_and_die("before");
    courier_->set_roster({terms("ops", "session:*")}, at(0));
    live_and_die("after");
    EXPECT_EQ(deliver(delivered),
              (std::vector<std::string>{"ops after_1_start", "ops after_1_end"}));
}

TEST_P(CourierStory, EachHearsWhatItAskedFor) {
    courier_->set_roster({terms("ends", "session:end"), terms("turns", "agent:*")}, at(0));
    commit(create("a"));
    commit(turn("a", 1, true));
    commit(close("a"));
    const auto heard = deliver(delivered);
    EXPECT_EQ(std::ranges::count(heard, "ends a_1_end"), 1);
    EXPECT_EQ(heard.size(), 3U);
}

TEST_P(CourierStory, AKnownOneGoesOnWhereItWasAfterARestart) {
    courier_->set_roster({terms("ops", "session:*")}, at(0));
    live_and_die("a");
    deliver(delivered);
    save();
    live_and_die("b");
    start_over();
    courier_->set_roster({terms("ops", "session:*")}, at(0));
    EXPECT_EQ(deliver(delivered), (std::vector<std::string>{"ops b_1_start", "ops b_1_end"}));
}

TEST_P(CourierStory, OneThatIsRemovedAndComesBackHasMissedNothing) {
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    live_and_die("a");
    EXPECT_TRUE(courier_->read(reader(), at(0)));
    const auto attempts = courier_->due(at(0));
    ASSERT_EQ(attempts.size(), 1U);
    EXPECT_EQ(courier_->set_roster({}, at(0)), std::vector{attempts.front().id});
    courier_->finish(attempts.front().id, delivered, at(0));  // too late: nobody waits for it
    live_and_die("b");
    ASSERT_EQ(courier_->report(at(0)).size(), 1U);
    EXPECT_TRUE(courier_->report(at(0)).front().absent);
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    EXPECT_EQ(deliver(delivered), (std::vector<std::string>{"ops a_1_end", "ops b_1_end"}));
}

TEST_P(CourierStory, WhatWasNotSavedWhenItWasRemovedIsSavedAllTheSame) {
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    save();
    live_and_die("a");
    deliver(failed);
    courier_->set_roster({}, at(0));
    EXPECT_TRUE(courier_->has_changes());
    EXPECT_TRUE(courier_->has_urgent_changes());
    save();

    const auto letters = reader().letters({.subscriber = "ops", .limit = 10});
    ASSERT_EQ(letters->size(), 1U);
    EXPECT_EQ(letters->front().attempts, 1);
    EXPECT_EQ(letters->front().last_error, "exit 1");
    const auto subscriptions = reader().subscriptions();
    EXPECT_EQ(subscriptions->front().cursor, 2) << "the letter is beyond it, and would be doubled";
    EXPECT_EQ(subscriptions->front().failures, 1);
    start_over();
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    EXPECT_TRUE(deliver(delivered, at(1)).empty()) << "it still waits";
    EXPECT_EQ(deliver(delivered, at(60)), std::vector<std::string>{"ops a_1_end"});
}

TEST_P(CourierStory, OnlyOneThatIsGoneCanBeForgotten) {
    using enum Courier::Forgetting;
    courier_->set_roster({terms("ops")}, at(0));
    EXPECT_EQ(courier_->forget("ops"), still_there);
    EXPECT_EQ(courier_->forget("nobody"), unknown);
    courier_->set_roster({}, at(0));
    EXPECT_EQ(courier_->forget("ops"), forgotten);
    EXPECT_EQ(courier_->forget("ops"), unknown) << "it is forgotten already";
    save();
    EXPECT_TRUE(reader().subscriptions()->empty());
}

TEST_P(CourierStory, WhoIsForgottenAndComesBackHearsNothingFromBefore) {
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    live_and_die("failed");
    deliver(failed);
    courier_->set_roster({}, at(0));
    live_and_die("missed");
    courier_->forget("ops");
    // Its file was there again, or still, before all that; it could only not be used.
    courier_->set_roster({terms("ops", "session:end")}, at(0), /*from=*/0);
    live_and_die("after");
    EXPECT_EQ(deliver(delivered, at(60)), std::vector<std::string>{"ops after_1_end"});
    save();
    EXPECT_TRUE(reader().letters({.subscriber = "ops", .limit = 10})->empty());
}

TEST_P(CourierStory, WhatTheLogLetGoOfIsToldAsAGapNeverPassedOver) {
    courier_->set_roster({terms("ops", "session:*")}, at(0));
    courier_->pause("ops");
    for (int i = 0; i < 10; ++i) live_and_die(fmt::format("s{}", i));
    let_go_of_all_but(4);
    courier_->resume("ops", at(0));
    const auto heard = deliver(delivered);
    ASSERT_EQ(heard.size(), 5U);
    EXPECT_EQ(heard.front(), "ops node_gap_1_16");
    EXPECT_EQ(courier_->report(at(0)).front().subscription.lost, 16);
    EXPECT_EQ(courier_->take_notices().size(), 1U);
}

TEST_P(CourierStory, LettersSurviveARestartAndTheLogLettingGo) {
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    live_and_die("a");
    deliver(failed);
    save();
    live_and_die("b");
    live_and_die("c");
    let_go_of_all_but(1);
    start_over();
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    EXPECT_EQ(courier_->report(at(0)).front().waiting, 1U);
    const auto heard = deliver(delivered, at(60));
    EXPECT_EQ(std::ranges::count(heard, "ops a_1_end"), 1);
}

TEST_P(CourierStory, DeadLettersAreSentAgainWhenAPersonSaysSo) {
    courier_->set_roster({terms("ops", "session:end")}, at(0));
    live_and_die("a");
    Now now = at(0);
    while (courier_->report(now).front().dead == 0) {
        deliver(failed, now);
        if (const auto next = courier_->next_try()) now.steady = std::max(now.steady, *next);
    }
    save();
    EXPECT_TRUE(deliver(delivered, now).empty());
    EXPECT_EQ(courier_->take_notices().size(), 1U) << "a person hears of it once";
    EXPECT_EQ(courier_->retry("ops", reader(), now).value(), 1U);
    EXPECT_EQ(deliver(delivered, now), std::vector<std::string>{"ops a_1_end"});
    save();
    EXPECT_TRUE(reader().letters({.limit = 10})->empty());
}

TEST_P(CourierStory, AHundredSubscribersReadTheLogOnce) {
    std::vector<Terms> roster;
    for (int i = 0; i < 100; ++i) roster.push_back(terms(fmt::format("s{:03}", i), "session:end"));
    courier_->set_roster(roster, at(0));
    for (int i = 0; i < 20; ++i) live_and_die(fmt::format("a{}", i));
    EXPECT_EQ(deliver(delivered).size(), 2000U);
    for (const auto& report : courier_->report(at(0))) EXPECT_EQ(report.lag, 0);
}

}  // namespace
}  // namespace knell::testing
