#include "rpc/feeds.hpp"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/limits.hpp"
#include "testing/event_log.hpp"
#include "wire/event_text.hpp"

namespace knell::rpc {
namespace {

using ::testing::HasSubstr;

/// A connection whose client takes what was sent when it is told to.
class FakeStream final : public Stream {
  public:
    explicit FakeStream(const wire::Framing& framing = wire::json_lines, std::size_t feeds_max = 1)
        : framing_(framing), feeds_(feeds_max) {}

    const wire::Framing& framing() const override { return framing_; }
    void send(std::string_view messages) override {
        sent += messages;
        unsent_ += messages.size();
        unsent_max = std::max(unsent_max, unsent_);
    }
    std::size_t unsent() const override { return unsent_; }
    void finish(const Error& why) override {
        framing_.append_error(sent, why);
        finished = true;
    }
    FeedSet& feeds() override { return feeds_; }

    void take(std::size_t bytes) {
        unsent_ -= std::min(bytes, unsent_);
        feeds_.go_on();
    }

    std::string sent;
    std::size_t unsent_max = 0;
    bool finished = false;

  private:
    const wire::Framing& framing_;
    std::size_t unsent_ = 0;
    FeedSet feeds_;
};

/// As a transport would write events that is no JSON-RPC.
constexpr wire::Framing fields{
    .end = "\n\n",
    .append_event =
        [](std::string& out, const Event& event, std::string_view node_id) {
            out += "id: " + std::to_string(event.seq) + "\ndata: ";
            wire::append_event(out, event, node_id);
            out += "\n\n";
        },
    .append_gap =
        [](std::string& out, Seq from, Seq to) {
            out += "gap: " + std::to_string(from) + "-" + std::to_string(to) + "\n\n";
        },
    .append_error = [](std::string& out,
                       const Error& why) { out += "error: " + why.message + "\n\n"; }};

/// A log that is committed, read and published in steps, in whatever order a test wants.
class FeedsTest : public ::testing::Test {
  protected:
    FeedsTest()
        : feeds("n0de", [this](EventQuery query, const wire::Framing& framing, Feeds::Done done) {
              asked_.push_back({std::move(query), framing, std::move(done)});
          }) {}

    void commit(EventType type, std::string session, std::size_t detail_bytes = 10) {
        Event event;
        event.type = type;
        event.session_id = SessionId(std::move(session));
        event.detail = std::string(detail_bytes, 'd');
        log.write(std::move(event));
    }
    void commit_starts(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) commit(EventType::session_start, "s");
    }

    /// Up to `count` of what is committed and not published.
    void publish(std::size_t count) {
        const auto size = std::min(count, log.events().size() - published_);
        feeds.publish(std::span(log.events()).subspan(published_, size));
        published_ += size;
    }
    void publish_all() { publish(log.events().size()); }
    /// As if nobody had listened when they were committed.
    void publish_unheard() {
        published_ = log.events().size();
        feeds.publish_up_to(log.events().empty() ? 0 : log.events().back().seq);
    }

    /// One page is read from the log as it is now; it comes back later.
    bool read_one() {
        if (asked_.empty()) return false;
        auto [query, framing, done] = std::move(asked_.front());
        asked_.pop_front();
        read_.push_back(
            {std::move(done), read_feed_page(log.reader(), std::move(query), framing, "n0de")});
        return true;
    }
    bool hand_over_one() {
        if (read_.empty()) return false;
        auto [done, page] = std::move(read_.front());
        read_.pop_front();
        done(std::move(page));
        return true;
    }
    bool read_and_hand_over() { return read_one() && hand_over_one(); }

    /// Until nothing is left to be done.
    void settle(FakeStream& stream) {
        publish_all();
        do {
            stream.take(SIZE_MAX);
        } while (read_one() || hand_over_one() || stream.unsent() > 0);
    }

    Result<Json> subscribe(FakeStream& stream, Subscription wanted) {
        Result<Json> answer = fail(ErrorCode::internal, "not answered");
        feeds.subscribe(std::move(wanted), stream,
                        [&answer](Result<Json> result) { answer = std::move(result); });
        while (!answer && read_and_hand_over()) {
        }
        return answer;
    }
    static Subscription after(Seq seq) { return {.query = {.after = seq}, .from_now = false}; }
    static Subscription from_now() { return {.query = {}, .from_now = true}; }

    std::string expected(const EventQuery& query,
                         const wire::Framing& framing = wire::json_lines) const {
        std::string messages;
        for (const auto& event : log.events()) {
            if (event.seq <= query.after || !query.wants(event)) continue;
            framing.append_event(messages, event, "n0de");
        }
        return messages;
    }

    struct Asked {
        EventQuery query;
        const wire::Framing& framing;
        Feeds::Done done;
    };
    struct Read {
        Feeds::Done done;
        Result<FeedPage> page;
    };

    testing::EventLog log;
    std::size_t published_ = 0;
    std::deque<Asked> asked_;
    std::deque<Read> read_;
    Feeds feeds;
};

TEST_F(FeedsTest, HasListenersFromTheFirstToTheLast) {
    EXPECT_FALSE(feeds.has_listeners());
    FakeStream one;
    ASSERT_TRUE(subscribe(one, from_now()));
    settle(one);
    EXPECT_TRUE(feeds.has_listeners()) << "or what is committed would be read again for it";
    FakeStream two;
    ASSERT_TRUE(subscribe(two, from_now()));
    settle(two);
    one.feeds().clear();
    EXPECT_TRUE(feeds.has_listeners());
    two.feeds().clear();
    EXPECT_FALSE(feeds.has_listeners());
}

TEST_F(FeedsTest, WithoutACursorOnlyNewEventsAreSent) {
    commit_starts(3);
    publish_all();
    FakeStream stream;

    const auto answer = subscribe(stream, from_now());
    commit_starts(2);
    settle(stream);

    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(wire::to_text(*answer), R"({"after":3})");
    EXPECT_EQ(stream.sent, expected({.after = 3}));
}

TEST_F(FeedsTest, FromTheBeginningEverythingIsSentOnce) {
    commit_starts(5);
    publish_all();
    FakeStream stream;

    const auto answer = subscribe(stream, after(0));
    commit_starts(5);
    settle(stream);

    EXPECT_EQ(wire::to_text(*answer), R"({"after":0})");
    EXPECT_EQ(stream.sent, expected({}));
}

TEST_F(FeedsTest, WhatIsPublishedAfterItWasReadIsNotSentAgain) {
    commit_starts(4);
    publish(2);
    FakeStream stream;

    ASSERT_TRUE(subscribe(stream, after(0)));  // its page holds all four
    settle(stream);

    EXPECT_EQ(stream.sent, expected({}));
}

TEST_F(FeedsTest, WhatIsPublishedWhileAPageIsOnItsWayIsRead) {
    commit_starts(2);
    publish_all();
    FakeStream stream;
    ASSERT_TRUE(subscribe(stream, after(1)));
    stream.send(std::string(limits::feed_unsent_bytes_max, '.'));
    stream.sent.clear();
    commit_starts(1);
    publish_all();
    stream.take(SIZE_MAX);
    ASSERT_TRUE(read_one());
    commit_starts(3);
    publish_all();

    settle(stream);

    EXPECT_EQ(stream.sent, expected({.after = 2}));
}

TEST_F(FeedsTest, ACursorPastTheLogIsRefusedAndTheConnectionCanSubscribeAgain) {
    commit_starts(2);
    publish_all();
    FakeStream stream;

    const auto refused = subscribe(stream, after(3));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().field, "after");
    EXPECT_THAT(refused.error().message, HasSubstr("the last event here is 2"));
    EXPECT_TRUE(subscribe(stream, after(2)));
}

TEST_F(FeedsTest, ASecondSubscriptionOfAConnectionIsRefused) {
    FakeStream stream;
    ASSERT_TRUE(subscribe(stream, from_now()));

    const auto second = subscribe(stream, from_now());

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::invalid_request);
    EXPECT_THAT(second.error().message, HasSubstr("already"));
    EXPECT_EQ(feeds.size(), 1U);
}

TEST_F(FeedsTest, AConnectionMayFollowAsMuchAsItsTransportTakes) {
    FakeStream stream(wire::json_lines, /*feeds_max=*/2);
    ASSERT_TRUE(subscribe(stream, from_now()));
    ASSERT_TRUE(subscribe(stream, {.query = {.session_id = SessionId("a")}, .from_now = true}));
    const auto third = subscribe(stream, from_now());
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().message, HasSubstr("2 subscriptions already"));

    commit(EventType::session_start, "a");
    commit(EventType::session_start, "b");
    settle(stream);

    EXPECT_EQ(stream.sent, expected({}) + expected({.session_id = SessionId("a")}));
    EXPECT_EQ(feeds.size(), 2U);
}

TEST_F(FeedsTest, OneOfSeveralThatIsRefusedLeavesTheOthers) {
    FakeStream stream(wire::json_lines, /*feeds_max=*/2);
    ASSERT_TRUE(subscribe(stream, from_now()));
    ASSERT_FALSE(subscribe(stream, after(99)));

    commit_starts(1);
    settle(stream);

    EXPECT_EQ(stream.sent, expected({}));
    EXPECT_FALSE(stream.feeds().is_full());
}

TEST_F(FeedsTest, EachIsSentEventsInItsOwnFraming) {
    commit_starts(2);
    publish_all();
    FakeStream lines;
    FakeStream other(fields);
    ASSERT_TRUE(subscribe(lines, after(0)));
    ASSERT_TRUE(subscribe(other, after(1)));  // from the store, and then as it is published

    commit_starts(2);
    settle(lines);
    settle(other);

    EXPECT_EQ(lines.sent, expected({}));
    EXPECT_EQ(other.sent, expected({.after = 1}, fields));
}

TEST_F(FeedsTest, PastTheBoundTheAnswerIsLimit) {
    std::vector<FakeStream> streams(limits::feeds_max + 1);
    for (std::size_t i = 0; i < limits::feeds_max; ++i) {
        ASSERT_TRUE(subscribe(streams[i], from_now()));
    }

    EXPECT_EQ(subscribe(streams.back(), from_now()).error().code, ErrorCode::limit);
    streams.front().feeds().clear();
    EXPECT_TRUE(subscribe(streams.back(), from_now()));
}

TEST_F(FeedsTest, AConnectionThatGoesTakesItsSubscriptionAlong) {
    commit_starts(1);
    publish_all();
    {
        FakeStream stream;
        feeds.subscribe(after(0), stream, [](const Result<Json>&) {});
        ASSERT_TRUE(read_one());
    }

    EXPECT_EQ(feeds.size(), 0U);
    EXPECT_TRUE(hand_over_one());  // to nobody
    commit_starts(1);
    publish_all();
}

TEST_F(FeedsTest, WhoDoesNotReadCostsABoundedNumberOfBytes) {
    FakeStream stream;
    ASSERT_TRUE(subscribe(stream, from_now()));
    for (int i = 0; i < 100; ++i) {
        commit(EventType::session_start, "s", 50'000);
        publish_all();
        while (read_and_hand_over()) {
        }
    }
    EXPECT_LT(stream.unsent_max,
              limits::feed_unsent_bytes_max + limits::feed_page_bytes_max + 60'000);

    settle(stream);

    EXPECT_EQ(stream.sent, expected({}));
}

TEST_F(FeedsTest, ACommitTooLargeToBeSentAtOnceIsReadInPages) {
    FakeStream stream;
    ASSERT_TRUE(subscribe(stream, from_now()));
    for (int i = 0; i < 60; ++i) commit(EventType::session_start, "s", 100'000);

    publish_all();
    EXPECT_EQ(stream.sent, "");
    settle(stream);

    EXPECT_EQ(stream.sent, expected({}));
}

TEST_F(FeedsTest, AReadThatFailsIsSaidAndEndsTheConnection) {
    commit_starts(1);
    publish_all();
    FakeStream stream;
    ASSERT_TRUE(subscribe(stream, after(0)));
    stream.send(std::string(limits::feed_unsent_bytes_max, '.'));
    commit_starts(1);
    publish_all();
    stream.take(SIZE_MAX);
    ASSERT_EQ(asked_.size(), 1U);

    asked_.front().done(fail(ErrorCode::storage, "the disk is gone"));

    EXPECT_TRUE(stream.finished);
    EXPECT_THAT(stream.sent, HasSubstr("the disk is gone"));
}

TEST_F(FeedsTest, WhoFollowsOneSessionIsAskedForNothingElse) {
    FakeStream stream;
    Subscription wanted = from_now();
    wanted.query.session_id = SessionId("a");
    ASSERT_TRUE(subscribe(stream, std::move(wanted)));
    for (int i = 0; i < 5; ++i) {
        commit(EventType::session_start, "b");
        publish_all();
    }
    log.trim(3);
    commit(EventType::agent_start, "a");
    commit(EventType::agent_end, "a");
    publish_all();

    EXPECT_EQ(stream.sent, expected({.after = 5}));
    EXPECT_TRUE(asked_.empty()) << "it was taken to be behind";
    commit(EventType::session_start, "b");
    publish_unheard();
    ASSERT_TRUE(read_and_hand_over());
    EXPECT_THAT(stream.sent, ::testing::Not(HasSubstr("gap"))) << "of events that are not its own";
}

TEST_F(FeedsTest, AnAttachmentThatBeginsNowNeedsNoPage) {
    commit_starts(2);
    publish_all();
    FakeStream stream;
    commit_starts(1);
    Subscription wanted = after(3);
    wanted.is_attachment = wanted.is_ours = true;
    wanted.query.session_id = SessionId("s");
    EXPECT_TRUE(subscribe(stream, std::move(wanted)) && asked_.empty());
    EXPECT_FALSE(stream.feeds().is_full()) << "it counts as a subscription";
    publish_all();
    EXPECT_EQ(stream.sent, "");
    commit_starts(1);
    publish_all();
    EXPECT_EQ(stream.sent, expected({.after = 3}));
}

TEST_F(FeedsTest, OneThatIsToFinishIsSentWhatIsPublishedByThen) {
    FakeStream live;
    FakeStream behind;
    const auto add = [&](FakeStream& stream, Subscription wanted) {
        return feeds.subscribe(std::move(wanted), stream, [](const Result<Json>&) {});
    };
    const auto first = add(live, from_now());
    commit_starts(3);
    publish_all();
    const auto second = add(behind, after(0));

    feeds.finish(first);
    feeds.finish(second);
    EXPECT_EQ(feeds.size(), 1U);
    ASSERT_TRUE(read_and_hand_over());

    EXPECT_EQ(feeds.size(), 0U);
    EXPECT_EQ(live.sent, expected({}));
    EXPECT_EQ(behind.sent, expected({}));
    feeds.finish(second);
    feeds.unsubscribe(second);
}

/// Races: commits, publishes, reads, pages that come back and clients that read or do not, in any
/// order, give each subscriber the log after its cursor as it wanted it.
RC_GTEST_FIXTURE_PROP(FeedsTest, AnyInterleavingGivesTheLogAfterTheCursor, ()) {
    const auto commit_any = [this] {
        const auto type = *rc::gen::element(EventType::session_start, EventType::session_end,
                                            EventType::agent_start);
        commit(type, *rc::gen::element("a", "b"),
               *rc::gen::element<std::size_t>(5, 20'000, 150'000));
    };
    const auto before = *rc::gen::inRange<std::size_t>(0, 12);
    for (std::size_t i = 0; i < before; ++i) commit_any();
    publish(*rc::gen::inRange<std::size_t>(0, 13));

    std::vector<FakeStream> streams(2);
    std::vector<EventQuery> queries;
    for (auto& stream : streams) {
        Subscription wanted;
        wanted.from_now = *rc::gen::arbitrary<bool>();
        wanted.query.after = *rc::gen::inRange<Seq>(0, static_cast<Seq>(log.events().size()) + 1);
        if (*rc::gen::arbitrary<bool>()) wanted.query.types = {EventType::session_end};
        if (*rc::gen::arbitrary<bool>()) wanted.query.session_id = SessionId("a");
        queries.push_back(wanted.query);
        if (wanted.from_now) queries.back().after = static_cast<Seq>(published_);
        feeds.subscribe(std::move(wanted), stream,
                        [](const Result<Json>& answer) { RC_ASSERT(answer.has_value()); });
    }
    const auto steps = *rc::gen::inRange(0, 60);
    for (int i = 0; i < steps; ++i) {
        switch (*rc::gen::inRange(0, 7)) {
            case 0:
                commit_any();
                break;
            case 1:
                publish(*rc::gen::inRange<std::size_t>(1, 4));
                break;
            case 6:
                publish_unheard();
                break;
            case 2:
                read_one();
                break;
            case 3:
                hand_over_one();
                break;
            default:
                streams[*rc::gen::inRange<std::size_t>(0, 2)].take(
                    *rc::gen::inRange<std::size_t>(0, 400'000));
                break;
        }
    }
    for (int round = 0; round < 2; ++round) {
        for (auto& stream : streams) settle(stream);
    }

    for (std::size_t i = 0; i < streams.size(); ++i) {
        RC_ASSERT(streams[i].sent == expected(queries[i]));
    }
}

}  // namespace
}  // namespace knell::rpc
