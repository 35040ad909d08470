// The delivery thread's steps, one by one, with a store that says no when a test wants it to.

#include "daemon/delivery.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/memory/memory_store.hpp"
#include "testing/commands.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::at;
using Verb = rpc::HooksCall::Verb;

Now after(Now now, std::chrono::milliseconds time) {
    now.wall += time;
    now.steady += time;
    now.boot += time;
    return now;
}

std::string text_of(const rpc::HooksReport& report) {
    std::string text;
    for (const auto& hook : report.hooks) text += hook.subscription.name + " " + hook.state + ", ";
    return text;
}
std::string text_of(const rpc::HookTestReport& report) {
    return report.delivered ? "delivered" : report.what;
}
std::string text_of(const rpc::HooksRetried& reply) {
    return "retried " + std::to_string(reply.deliveries);
}
std::string text_of(const rpc::HookStateReport& reply) {
    return reply.name + " is " + reply.state;
}
std::string text_of(const rpc::HookForgotten& reply) {
    return reply.name + " is forgotten";
}

/// Reads what there is, until it is told not to.
class RefusingReader final : public Reader {
  public:
    explicit RefusingReader(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
    bool refuses = false;
    int asked = 0;  // for events, while it refuses

    Result<SessionPage> list(const SessionQuery& query) override { return reader_->list(query); }
    Result<EndedPage> latest_ended(const EndedQuery& query) override {
        return reader_->latest_ended(query);
    }
    Result<std::optional<Session>> find(const SessionId& id) override { return reader_->find(id); }
    Result<std::vector<Session>> find_beginning(const SessionId& prefix,
                                                std::size_t limit) override {
        return reader_->find_beginning(prefix, limit);
    }
    Result<IdNeighbours> neighbours(const SessionId& id) override {
        return reader_->neighbours(id);
    }
    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return reader_->newest_child(parent, relation);
    }
    Result<MessagePage> messages(const MessageQuery& query) override {
        return reader_->messages(query);
    }
    Result<ProcessPage> processes(const ProcessQuery& query) override {
        return reader_->processes(query);
    }
    Result<std::optional<ProcessOnRecord>> process(const ProcessId& id) override {
        return reader_->process(id);
    }
    Result<EventPage> events(const EventQuery& query) override {
        if (!refuses) return reader_->events(query);
        ++asked;
        return fail(ErrorCode::storage, "the disk failed");
    }
    Result<std::vector<EndedLately>> ended_lately(WallTime since, std::size_t limit) override {
        return reader_->ended_lately(since, limit);
    }
    Result<std::int64_t> data_version() override { return reader_->data_version(); }
    Result<void> at_one_moment(const std::function<Result<void>()>& read) override {
        return reader_->at_one_moment(read);
    }
    Result<EndCounts> ends_since(WallTime since) override { return reader_->ends_since(since); }
    Result<std::int64_t> leaked() override { return reader_->leaked(); }
    Result<std::vector<Subscription>> subscriptions() override { return reader_->subscriptions(); }
    Result<std::vector<PendingDelivery>> letters(const PendingQuery& query) override {
        if (refuses) return fail(ErrorCode::storage, "the disk failed");
        return reader_->letters(query);
    }

  private:
    std::unique_ptr<Reader> reader_;
};

class DeliverySteps : public ::testing::Test {
  protected:
    struct Saving {
        std::vector<DeliveryChange> changes;
        std::move_only_function<void(bool)> done;
    };

    DeliverySteps() {
        add_hook("ops");
        paths_.config_file = temp_.path() + "/config.yaml";
        paths_.hooks_dir = hooks_;
        delivery_.emplace(paths_, "node", /*head=*/0, outside());
        EXPECT_TRUE(delivery_->recover());
        delivery_->reload_soon();
    }

    void add_hook(const std::string& name) {
        const auto directory = hooks_ + "/" + name;
        std::filesystem::create_directories(directory);
        std::ofstream(directory + "/HOOK.yaml") << "events: [session:end]\n";
        std::ofstream(directory + "/run") << "#!/bin/sh\n";
        ASSERT_EQ(::chmod((directory + "/run").c_str(), 0755), 0);
    }
    Delivery::Dependencies outside() {
        return {.reader = std::move(*store_->open_reader()),
                .save =
                    [this](std::vector<DeliveryChange> changes, auto done) {
                        savings_.push_back({std::move(changes), std::move(done)});
                    },
                .notify = [](const std::string&) {},
                .config = config_};
    }

    void answer_save(bool saved) { savings_.back().done(saved); }
    /// Asks; the answer is in `answers_` once there is one.
    void ask(Verb verb, const std::string& name = "ops") {
        delivery_->ask({.verb = verb, .name = name}, [this](Result<rpc::HooksReply> answer) {
            answers_.push_back(
                answer ? std::visit([](const auto& known) { return text_of(known); }, *answer)
                       : answer.error().message);
        });
    }
    /// What that save says of each subscriber, in order.
    std::string states(std::size_t saving) const {
        std::string text;
        for (const auto& change : savings_.at(saving).changes) {
            const auto* saved = std::get_if<SubscriptionSaved>(&change);
            if (saved == nullptr) continue;
            text += saved->subscription.name + " " +
                    std::string(name_in(subscriber_state_names, saved->subscription.state)) + ", ";
        }
        return text;
    }

    const testing::TempFolder temp_;
    const std::string hooks_ = temp_.path() + "/hooks";
    Paths paths_;
    ConfigHolder config_{temp_.path() + "/config.yaml"};
    std::unique_ptr<Store> store_ = make_memory_store();
    std::vector<Saving> savings_;
    std::vector<std::string> answers_;
    std::optional<Delivery> delivery_;
};

TEST_F(DeliverySteps, ASaveThatTheStoreRefusesIsSaidAgainASecondLater) {
    delivery_->step(at(0));
    ASSERT_EQ(savings_.size(), 1U);
    EXPECT_EQ(states(0), "ops active, ");
    answer_save(false);

    delivery_->step(at(0));
    delivery_->step(after(at(0), 999ms));
    EXPECT_EQ(savings_.size(), 1U) << "too early";
    delivery_->step(at(1));
    ASSERT_EQ(savings_.size(), 2U);
    EXPECT_EQ(states(1), "ops active, ");
    answer_save(true);

    delivery_->step(at(2));
    delivery_->step(at(60));
    EXPECT_EQ(savings_.size(), 2U) << "there is nothing more to say";
}

TEST_F(DeliverySteps, OneSaveAtATime) {
    delivery_->step(at(0));
    ask(Verb::pause);
    delivery_->step(at(10));
    EXPECT_EQ(savings_.size(), 1U) << "the store has not answered yet";
    answer_save(true);
    delivery_->step(at(10));
    ASSERT_EQ(savings_.size(), 2U);
    EXPECT_EQ(states(1), "ops paused, ");
}

TEST_F(DeliverySteps, WhatWasRefusedComesBeforeWhatIsNew) {
    delivery_->step(at(0));
    answer_save(false);
    ask(Verb::pause);
    delivery_->step(at(0));
    delivery_->step(at(1));
    ASSERT_EQ(savings_.size(), 2U);
    EXPECT_EQ(states(1), "ops active, ops paused, ") << "the last one counts";
}

TEST_F(DeliverySteps, AnAnswerWaitsUntilItIsDurable) {
    delivery_->step(at(0));
    answer_save(true);
    ask(Verb::pause);
    ask(Verb::pause, "nobody");
    delivery_->step(at(1));
    ASSERT_EQ(answers_.size(), 1U) << "only a refusal needs no save";
    EXPECT_NE(answers_[0].find("no hook or webhook nobody"), std::string::npos);
    ASSERT_EQ(savings_.size(), 2U);
    answer_save(true);
    delivery_->step(at(1));
    ASSERT_EQ(answers_.size(), 2U);
    EXPECT_EQ(answers_[1], "ops is paused");

    ask(Verb::resume);
    delivery_->step(at(2));
    answer_save(false);
    delivery_->step(at(2));
    ASSERT_EQ(answers_.size(), 3U);
    EXPECT_EQ(answers_[2], "done, but it could not be saved: it may be undone by a restart");
}

TEST_F(DeliverySteps, ARetryWaitsForWhatIsNotSavedYet) {
    delivery_->step(at(0));
    ask(Verb::retry);
    delivery_->step(at(0));
    EXPECT_TRUE(answers_.empty()) << "a save is under way";
    answer_save(false);
    delivery_->step(at(0));
    ask(Verb::retry);
    delivery_->step(after(at(0), 500ms));
    EXPECT_TRUE(answers_.empty()) << "the store said no";
    delivery_->step(at(1));
    EXPECT_TRUE(answers_.empty());
    answer_save(true);
    delivery_->step(at(1));
    EXPECT_EQ(answers_, (std::vector<std::string>{"retried 0", "retried 0"}));
    ask(Verb::retry);
    delivery_->step(at(1));
    EXPECT_EQ(answers_.size(), 3U) << "nothing is unsaved";
}

TEST_F(DeliverySteps, OnlyOneThatIsGoneIsForgotten) {
    delivery_->step(at(0));
    answer_save(true);
    ask(Verb::forget);
    delivery_->step(at(1));
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_NE(answers_[0].find("ops is still there"), std::string::npos);

    std::filesystem::remove_all(hooks_ + "/ops");
    ask(Verb::pause);
    ask(Verb::forget);
    delivery_->step(at(2));
    ASSERT_EQ(answers_.size(), 2U);
    EXPECT_NE(answers_[1].find("config entry of ops is gone"), std::string::npos);
    answer_save(true);
    delivery_->step(at(2));
    EXPECT_EQ(answers_.back(), "ops is forgotten");
    EXPECT_TRUE(std::ranges::any_of(savings_.back().changes, [](const auto& change) {
        return std::holds_alternative<SubscriptionForgotten>(change);
    }));
}

TEST_F(DeliverySteps, HowFarSubscribersAreIsSavedFourTimesASecondAtMost) {
    delivery_->step(at(0));
    answer_save(true);
    delivery_->step(at(10));
    // Nobody wants the event, but the cursor passes it.
    Batch batch;
    batch.events.push_back({.seq = 1, .type = EventType::notice});
    ASSERT_TRUE(store_->commit(batch));
    delivery_->wake(1);
    delivery_->step(at(20));
    ASSERT_EQ(savings_.size(), 2U);
    answer_save(true);
    batch.events[0].seq = 2;
    ASSERT_TRUE(store_->commit(batch));
    delivery_->wake(2);
    delivery_->step(after(at(20), 249ms));
    EXPECT_EQ(savings_.size(), 2U) << "too early";
    delivery_->step(after(at(20), 250ms));
    ASSERT_EQ(savings_.size(), 3U);
    const auto& saved = std::get<SubscriptionSaved>(savings_[2].changes.at(0));
    EXPECT_EQ(saved.subscription.cursor, 2);
}

TEST_F(DeliverySteps, ALogThatCannotBeReadIsReadAgainASecondLater) {
    delivery_.reset();
    auto outside = this->outside();
    auto reader = std::make_unique<RefusingReader>(std::move(outside.reader));
    auto& refusing = *reader;
    outside.reader = std::move(reader);
    delivery_.emplace(paths_, "node", /*head=*/0, std::move(outside));
    ASSERT_TRUE(delivery_->recover());
    delivery_->reload_soon();
    delivery_->step(testing::at(0));
    refusing.refuses = true;
    delivery_->wake(/*head=*/5);

    delivery_->step(testing::at(1));
    EXPECT_EQ(refusing.asked, 1);
    delivery_->step(after(testing::at(1), 900ms));
    EXPECT_EQ(refusing.asked, 1) << "it was asked again at once";
    delivery_->step(testing::at(2));
    EXPECT_EQ(refusing.asked, 2);
}

TEST_F(DeliverySteps, ATestThatIsUnderWayWhenTheDaemonStopsIsAnswered) {
    std::ofstream(hooks_ + "/ops/run") << "#!/bin/sh\nsleep 1000\n";
    delivery_.reset();
    auto outside = this->outside();
    outside.save = [](const std::vector<DeliveryChange>&, auto done) { done(false); };
    delivery_.emplace(paths_, "node", /*head=*/0, std::move(outside));
    ASSERT_TRUE(delivery_->recover());
    delivery_->start();
    ask(Verb::test);

    ::testing::internal::CaptureStderr();
    delivery_->stop();

    EXPECT_THAT(answers_,
                ::testing::ElementsAre("the daemon stops; test it again when it is back"));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                ::testing::HasSubstr("delivery progress was not saved"));
}

TEST_F(DeliverySteps, AStopSavesWhatTheStoreRefusedBefore) {
    delivery_.reset();
    savings_.clear();
    auto outside = this->outside();
    outside.save = [this](std::vector<DeliveryChange> changes, auto done) {
        savings_.push_back({std::move(changes), {}});
        done(savings_.size() > 1);
    };
    {
        Delivery delivery(paths_, "node", /*head=*/0, std::move(outside));
        ASSERT_TRUE(delivery.recover());
        delivery.start();
        delivery.stop();
    }
    ASSERT_EQ(savings_.size(), 2U);
    EXPECT_EQ(states(0), "ops active, ");
    EXPECT_EQ(states(1), "ops active, ");
}

}  // namespace
}  // namespace knell
