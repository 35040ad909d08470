// events.subscribe: the log as it grows, in order, each event once, whoever reads how fast.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto subscribe_all = R"({"after":0})";

/// The next line must be an event; gives it.
Json next_event(Client& client) {
    const auto line = client.read_line();
    if (!line) throw std::runtime_error("the feed ended");
    auto told = parse(*line);
    EXPECT_EQ(text(told, "method"), "event") << *line;
    return at(told, "params");
}

/// Reads events `first` to `last` and nothing else.
void expect_events(Client& client, std::int64_t first, std::int64_t last) {
    for (auto seq = first; seq <= last; ++seq) ASSERT_EQ(number(next_event(client), "seq"), seq);
}

class Feed : public WithDaemon {
  protected:
    Client subscribed(std::string_view params) {
        Client feed(home.socket());
        feed.must("events.subscribe", params);
        return feed;
    }
    /// One event each, without waiting for one answer before the next call.
    void create_many(std::size_t count, std::string_view title = {}) {
        const auto line = fmt::format(
            R"({{"jsonrpc":"2.0","id":1,"method":"session.create","params":{{"source":"cli","key":"{}"}}}})"
            "\n",
            title);
        for (std::size_t sent = 0; sent < count;) {
            const auto some = std::min<std::size_t>(200, count - sent);
            std::string lines;
            for (std::size_t i = 0; i < some; ++i) lines += line;
            ASSERT_TRUE(client.send(lines));
            for (std::size_t i = 0; i < some; ++i) ASSERT_TRUE(client.read_answer().ok());
            sent += some;
        }
    }
};

TEST_F(Feed, SaysWhereItBeginsAndThenWhatHappens) {
    create();
    const auto newest = newest_seq(client);
    Client feed(home.socket());

    const auto answer = feed.must("events.subscribe");
    create(R"({"id":"x","source":"cli"})");
    client.must("session.close", R"({"session_id":"x"})");

    EXPECT_EQ(number(answer, "after"), newest);
    const auto start = next_event(feed);
    const auto end = next_event(feed);
    const auto page = client.must("events.read", fmt::format(R"({{"after":{}}})", newest));
    EXPECT_EQ(start, at(page, "events.0"));
    EXPECT_EQ(end, at(page, "events.1"));
}

TEST_F(Feed, FromTheBeginningDuringLoadEveryNumberComesOnce) {
    create_many(3000);
    auto feed = subscribed(subscribe_all);
    create_many(3000);

    const auto newest = newest_seq(client);
    EXPECT_GE(newest, 6000);
    expect_events(feed, 1, newest);
}

TEST_F(Feed, SendsOnlyWhatWasAskedFor) {
    create(R"({"id":"a","source":"cli"})");
    auto ends = subscribed(R"({"after":0,"types":["session:end"]})");
    auto of_b = subscribed(R"({"session_id":"b"})");
    create(R"({"id":"b","source":"cli"})");
    client.must("session.close", R"({"session_id":"a"})");
    client.must("turn.start", R"({"session_id":"b","generation":1})");
    client.must("session.close", R"({"session_id":"b"})");

    EXPECT_EQ(text(next_event(ends), "id"), "a_1_end");
    EXPECT_EQ(text(next_event(ends), "id"), "b_1_end");
    std::vector<std::string> types;
    for (int i = 0; i < 4; ++i) types.push_back(text(next_event(of_b), "type"));
    EXPECT_THAT(types, ElementsAre("session:start", "agent:start", "agent:end", "session:end"));
}

TEST_F(Feed, CallsGoOnWorkingOnTheSameConnection) {
    const auto newest = newest_seq(client);
    auto feed = subscribed(R"({})");

    feed.send(R"({"jsonrpc":"2.0","id":7,"method":"session.create","params":{"source":"cli"}})"
              "\n");
    const auto first = parse(*feed.read_line());
    const auto second = parse(*feed.read_line());

    EXPECT_EQ(number(first, "id"), 7);
    EXPECT_EQ(number(second, "params.seq"), newest + 1);
}

TEST_F(Feed, OneSubscriptionIsWhatAConnectionHas) {
    const auto newest = newest_seq(client);
    auto feed = subscribed(R"({})");

    const auto second = feed.call("events.subscribe");

    EXPECT_EQ(second.kind(), "invalid_request");
    EXPECT_THAT(second.message(), HasSubstr("open another connection"));
    create();
    EXPECT_EQ(number(next_event(feed), "seq"), newest + 1);
}

TEST_F(Feed, WhatCannotBeFollowedIsNamed) {
    const auto not_yet = fmt::format(R"({{"after":{}}})", newest_seq(client) + 1);
    EXPECT_EQ(client.call("events.subscribe", R"({"after":-1})").field(), "after");
    EXPECT_EQ(client.call("events.subscribe", not_yet).field(), "after");
    EXPECT_EQ(client.call("events.subscribe", R"({"types":["x"]})").field(), "types");
    EXPECT_EQ(client.call("events.subscribe", R"({"session_id":"/"})").field(), "session_id");
    EXPECT_TRUE(client.call("events.subscribe", subscribe_all).ok());
}

TEST_F(Feed, WhoDoesNotReadForALongWhileMissesNothing) {
    auto slow = subscribed(subscribe_all);
    auto quick = subscribed(subscribe_all);
    const std::string key(500, 'k');
    std::int64_t heard = 0;
    for (int i = 0; i < 20; ++i) {
        create_many(500, key);
        const auto newest = newest_seq(client);
        expect_events(quick, heard + 1, newest);
        heard = newest;
    }

    EXPECT_GE(heard, 10'000);
    expect_events(slow, 1, heard);
    create();
    EXPECT_EQ(number(next_event(slow), "seq"), heard + 1);
}

TEST_F(Feed, TwoHundredFollowersHearTheSame) {
    const auto newest = newest_seq(client);
    std::vector<Client> of_new_ones;
    std::vector<Client> of_all;
    for (int i = 0; i < 100; ++i) {
        of_new_ones.push_back(subscribed("{}"));
        of_all.push_back(subscribed(subscribe_all));
    }

    create_many(500);

    for (auto& follower : of_new_ones) expect_events(follower, newest + 1, newest + 500);
    for (auto& follower : of_all) expect_events(follower, 1, newest + 500);
}

TEST_F(Feed, WhoShutsDownItsSendingSideGetsTheAnswerAndIsLetGo) {
    create_many(10);
    Client feed(home.socket());
    feed.send(R"({"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"after":0}})"
              "\n");
    feed.finish_sending();

    EXPECT_EQ(number(feed.read_answer().result(), "after"), 0);
    expect_events(feed, 1, newest_seq(client));
    EXPECT_TRUE(feed.is_closed());
}

TEST_F(Feed, WhatIsNoLongerKeptIsSaidBeforeWhatIs) {
    create_many(10);
    daemon.terminate();
    testing::edit_store(home.file("knell.db"), "DELETE FROM events WHERE seq <= 6");
    daemon.start();
    client = Client(home.socket());

    auto all = subscribed(subscribe_all);
    auto some = subscribed(R"({"after":4,"types":["session:end"]})");
    auto none = subscribed(R"({"after":6})");

    const auto newest = newest_seq(client);
    EXPECT_EQ(all.read_line(), R"({"jsonrpc":"2.0","method":"gap","params":{"from":1,"to":6}})");
    expect_events(all, 7, newest);
    EXPECT_EQ(some.read_line(), R"({"jsonrpc":"2.0","method":"gap","params":{"from":5,"to":6}})");
    expect_events(none, 7, newest);
    const auto page = client.must("events.read", R"({"limit":1})");
    EXPECT_EQ(number(page, "gap.from"), 1);
    EXPECT_EQ(number(page, "gap.to"), 6);
    EXPECT_EQ(number(page, "next"), 7);
}

TEST_F(Feed, AFollowerDoesNotKeepTheDaemonFromStopping) {
    auto slow = subscribed(subscribe_all);
    create_many(5000, std::string(500, 'k'));

    EXPECT_EQ(daemon.terminate(), 0);
    EXPECT_THAT(daemon.log(), HasSubstr("knell stopped"));
}

}  // namespace
}  // namespace knell::functional
