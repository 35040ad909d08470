// events.read: in order, without holes, the same every time.

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;

class EventLog : public WithDaemon {
  protected:
    /// Two generations of "a", a turn included, and one of "b".
    void tell_a_story() {
        create(R"({"id":"a","source":"cli","key":"k:1","platform":"slack","user_id":"u"})");
        create(R"({"id":"b","source":"cron"})");
        client.must("turn.start", R"({"session_id":"a","generation":1})");
        client.must("turn.end", R"({"session_id":"a","generation":1})");
        client.must("session.close", R"({"session_id":"a","detail":"cli_close"})");
        client.must("session.resume", R"({"session_id":"a"})");
        client.must("session.close", R"({"session_id":"b"})");
    }
    std::vector<std::string> types(std::string_view params) {
        std::vector<std::string> types;
        for (const auto& event : array(client.must("events.read", params), "events")) {
            types.push_back(text(event, "type"));
        }
        return types;
    }
};

TEST_F(EventLog, NumbersRiseByOneFromOne) {
    tell_a_story();

    std::int64_t expected = 0;
    for (const auto& event : all_events(client)) {
        EXPECT_EQ(number(event, "seq"), ++expected);
        EXPECT_NE(text(event, "time"), "");
    }
    EXPECT_EQ(session_events(client).size(), 7U);
}

TEST_F(EventLog, PagesOfAnySizeGiveTheSame) {
    tell_a_story();
    const auto whole = all_events(client);

    for (const std::size_t page :
         {1UZ, 2UZ, 3UZ, whole.size() - 1, whole.size(), whole.size() + 1}) {
        EXPECT_EQ(all_events(client, page), whole) << "pages of " << page;
    }
}

TEST_F(EventLog, NextIsWhereToGoOn) {
    tell_a_story();

    const auto newest = newest_seq(client);
    const auto first = client.must("events.read", R"({"limit":3})");
    const auto at_end = client.must("events.read", fmt::format(R"({{"after":{}}})", newest));

    EXPECT_EQ(number(first, "next"), 3);
    EXPECT_EQ(number(at_end, "next"), newest);
    EXPECT_TRUE(array(at_end, "events").empty());
}

TEST_F(EventLog, FiltersByTypeAndSession) {
    tell_a_story();

    EXPECT_THAT(types(R"({"types":["session:end"]})"), ElementsAre("session:end", "session:end"));
    EXPECT_THAT(types(R"({"types":["agent:start","agent:end"]})"),
                ElementsAre("agent:start", "agent:end"));
    EXPECT_THAT(types(R"({"session_id":"b"})"), ElementsAre("session:start", "session:end"));
    EXPECT_THAT(types(R"({"session_id":"a","after":3,"types":["session:start"]})"),
                ElementsAre("session:start"));
    EXPECT_THAT(types(R"({"session_id":"a","limit":2})"),
                ElementsAre("session:start", "agent:start"));
}

TEST_F(EventLog, AnEventTellsWhoseItIs) {
    tell_a_story();

    const auto end = client.must("events.read", R"({"session_id":"a","types":["session:end"]})");

    EXPECT_EQ(text(end, "events.0.session_id"), "a");
    EXPECT_EQ(text(end, "events.0.session_key"), "k:1");
    EXPECT_EQ(text(end, "events.0.platform"), "slack");
    EXPECT_EQ(text(end, "events.0.user_id"), "u");
    EXPECT_EQ(text(end, "events.0.source"), "cli");
    EXPECT_EQ(number(end, "events.0.generation"), 1);
    EXPECT_EQ(text(end, "events.0.reason"), "completed");
    EXPECT_EQ(text(end, "events.0.proof"), "declared");
    EXPECT_EQ(text(end, "events.0.detail"), "cli_close");
    EXPECT_NE(text(end, "events.0.evidence"), "");
    EXPECT_LE(text(end, "events.0.started_at"), text(end, "events.0.ended_at"));
    EXPECT_LE(text(end, "events.0.ended_after"), text(end, "events.0.ended_before"));
}

TEST_F(EventLog, IdsAreUniqueAndSurviveARestart) {
    tell_a_story();
    const auto before = all_events(client);
    std::set<std::string> ids;
    for (const auto& event : before) ids.insert(text(event, "id"));
    EXPECT_EQ(ids.size(), before.size());
    EXPECT_TRUE(ids.contains("a_1_start"));
    EXPECT_TRUE(ids.contains("a_1_end"));
    EXPECT_TRUE(ids.contains("a_2_start"));

    daemon.restart();
    client = Client(home.socket());

    auto after = all_events(client);
    ASSERT_EQ(after.size(), before.size() + 1);
    EXPECT_EQ(text(after.back(), "type"), "gateway:startup");
    EXPECT_FALSE(ids.contains(text(after.back(), "id")));
    EXPECT_EQ(number(after.back(), "seq"), number(before.back(), "seq") + 1);
    after.pop_back();
    EXPECT_EQ(after, before);
}

TEST_F(EventLog, TheDaemonsOwnComingAndGoingIsInIt) {
    create();
    EXPECT_EQ(daemon.terminate(), 0);
    daemon.start();
    daemon.restart();
    client = Client(home.socket());

    EXPECT_THAT(types("{}"), ElementsAre("gateway:startup", "session:start", "gateway:shutdown",
                                         "gateway:startup", "gateway:startup"))
        << "a crash says nothing, the next start does";
}

TEST_F(EventLog, RefusedCallsLeaveNoEvent) {
    create(R"({"id":"a","source":"cli"})");
    EXPECT_FALSE(client.call("session.create", R"({"id":"a","source":"cli"})").ok());
    EXPECT_FALSE(client.call("session.create", R"({"id":"/","source":"cli"})").ok());
    EXPECT_FALSE(client.call("turn.start", R"({"session_id":"a","generation":9})").ok());
    create(R"({"id":"b","source":"cli"})");

    const auto events = session_events(client);

    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(text(events[1], "session_id"), "b");
    EXPECT_EQ(number(events[1], "seq"), number(events[0], "seq") + 1);
}

TEST_F(EventLog, WhatCannotBeAskedForIsNamed) {
    EXPECT_EQ(client.call("events.read", R"({"after":-1})").field(), "after");
    EXPECT_EQ(client.call("events.read", R"({"limit":0})").field(), "limit");
    EXPECT_EQ(client.call("events.read", R"({"limit":5001})").field(), "limit");
    EXPECT_EQ(client.call("events.read", R"({"types":["session:begin"]})").field(), "types");
    EXPECT_EQ(client.call("events.read", R"({"types":[1]})").field(), "types");
    EXPECT_EQ(client.call("events.read", R"({"types":"session:end"})").field(), "types");
    EXPECT_EQ(client.call("events.read", R"({"session_id":"a/b"})").field(), "session_id");
}

}  // namespace
}  // namespace knell::functional
