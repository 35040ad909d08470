// session.list: filters before limits, pages without gaps, folding by origin.

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Listing : public WithDaemon {
  protected:
    std::vector<std::string> list(std::string_view params = "{}") {
        return ids_of(client.must("session.list", params));
    }
    void say_something(std::string_view id) {
        client.must("session.append", fmt::format(R"({{"session_id":"{}","generation":1,
                        "messages":[{{"role":"user","content":"x"}}]}})",
                                                  id));
    }
    void close(std::string_view id) {
        client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
    }
};

TEST_F(Listing, TheNewestComesFirst) {
    for (const auto* id : {"a", "b", "c"})
        create(fmt::format(R"({{"id":"{}","source":"cli"}})", id));

    EXPECT_THAT(list(), ElementsAre("c", "b", "a"));
}

TEST_F(Listing, FiltersComeBeforeTheLimit) {
    create(R"({"id":"rare","source":"gateway","key":"k:1"})");
    for (int i = 0; i < 20; ++i) create();

    EXPECT_THAT(list(R"({"source":"gateway","limit":1})"), ElementsAre("rare"));
    EXPECT_THAT(list(R"({"key":"k:1","limit":1})"), ElementsAre("rare"));
    EXPECT_THAT(list(R"({"key":"k:2"})"), IsEmpty());
}

TEST_F(Listing, ByStatusAndEnd) {
    for (const auto* id : {"idle", "running", "ended"}) {
        create(fmt::format(R"({{"id":"{}","source":"cli"}})", id));
        say_something(id);
    }
    client.must("turn.start", R"({"session_id":"running","generation":1})");
    close("ended");

    EXPECT_THAT(list(R"({"status":"running"})"), ElementsAre("running"));
    EXPECT_THAT(list(R"({"status":"idle"})"), ElementsAre("idle"));
    EXPECT_THAT(list(R"({"status":"ended"})"), ElementsAre("ended"));
    EXPECT_THAT(list(R"({"ended":true})"), ElementsAre("ended"));
    EXPECT_THAT(list(R"({"ended":false})"), ElementsAre("running", "idle"));
    EXPECT_THAT(list(R"({"ended":true,"status":"running"})"), IsEmpty());
    EXPECT_THAT(list(R"({"status":"stalled"})"), IsEmpty());
    EXPECT_THAT(list(R"({"status":"running","source":"gateway"})"), IsEmpty());
}

TEST_F(Listing, WhatMachinesOpenedAndWhatStayedEmptyIsFoldedAway) {
    create(R"({"id":"person","source":"cli"})");
    say_something("person");
    create(R"({"id":"agent","source":"subagent"})");
    create(R"({"id":"child","source":"cli","parent_id":"person","relation":"subagent"})");
    create(R"({"id":"nightly","source":"cron"})");
    create(R"({"id":"nothing-yet","source":"cli"})");
    create(R"({"id":"nothing-ever","source":"cli"})");
    close("nothing-ever");
    create(R"({"id":"titled","source":"cli","title":"t"})");
    close("titled");

    EXPECT_THAT(list(), ElementsAre("titled", "nothing-yet", "person"));
    EXPECT_THAT(list(R"({"all":true})"), ElementsAre("titled", "nothing-ever", "nothing-yet",
                                                     "nightly", "child", "agent", "person"));
    EXPECT_THAT(list(R"({"source":"cron"})"), ElementsAre("nightly"));
}

TEST_F(Listing, ASessionThatWasEmptyIsShownOnceItIsOpenAgain) {
    create(R"({"id":"s","source":"cli"})");
    close("s");
    EXPECT_THAT(list(), IsEmpty());

    client.must("session.resume", R"({"session_id":"s"})");

    EXPECT_THAT(list(), ElementsAre("s"));
}

TEST_F(Listing, PagesMissNothingAndRepeatNothingWhileOthersCreate) {
    std::set<std::string> before;
    for (int i = 0; i < 25; ++i) before.insert(create());

    std::multiset<std::string> seen;
    std::string cursor;
    int pages = 0;
    do {
        const auto page = client.must(
            "session.list", cursor.empty() ? R"({"limit":4})"
                                           : fmt::format(R"({{"limit":4,"cursor":"{}"}})", cursor));
        for (auto& id : ids_of(page)) seen.insert(std::move(id));
        cursor = text(page, "next");
        ++pages;
        for (int i = 0; i < 3; ++i) create();
    } while (!cursor.empty());

    EXPECT_EQ(pages, 7);
    EXPECT_EQ(seen.size(), before.size());
    EXPECT_EQ(std::set(seen.begin(), seen.end()), before);
}

TEST_F(Listing, AFullLastPageHasNoNext) {
    for (int i = 0; i < 4; ++i) create();

    const auto page = client.must("session.list", R"({"limit":4})");

    EXPECT_EQ(ids_of(page).size(), 4U);
    EXPECT_TRUE(at(page, "next").is_null());
}

TEST_F(Listing, PagesFilterToo) {
    std::vector<std::string> wanted;
    for (int i = 0; i < 10; ++i) {
        create();
        wanted.insert(wanted.begin(), create(R"({"source":"gateway"})"));
    }

    std::vector<std::string> seen;
    std::string cursor;
    do {
        const auto page = client.must("session.list",
                                      fmt::format(R"({{"source":"gateway","limit":3,"cursor":{}}})",
                                                  cursor.empty() ? "null" : "\"" + cursor + "\""));
        for (auto& id : ids_of(page)) seen.push_back(std::move(id));
        cursor = text(page, "next");
    } while (!cursor.empty());

    EXPECT_EQ(seen, wanted);
}

TEST_F(Listing, WhatCannotBeAskedForIsNamed) {
    EXPECT_EQ(client.call("session.list", R"({"limit":0})").field(), "limit");
    EXPECT_EQ(client.call("session.list", R"({"limit":1001})").field(), "limit");
    EXPECT_EQ(client.call("session.list", R"({"cursor":"x"})").field(), "cursor");
    EXPECT_EQ(client.call("session.list", R"({"cursor":"-1"})").field(), "cursor");
    EXPECT_EQ(client.call("session.list", R"({"status":"asleep"})").field(), "status");
    EXPECT_EQ(client.call("session.list", R"({"ended":"yes"})").field(), "ended");
    EXPECT_EQ(client.call("session.list", R"({"source":"a/b"})").field(), "source");
}

}  // namespace
}  // namespace knell::functional
