// How people name a session: by the beginning of its id, by its place, by its key.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SessionName : public WithDaemon {
  protected:
    void open(std::string_view id, std::string_view more = "") {
        create(fmt::format(R"({{"id":"{}","source":"cli","owner":{{"lease_ttl_s":600}}{}}})", id,
                           more));
    }
    /// The id of the session that `knell title` finds under that name; "" and what it says when it
    /// finds none.
    std::string meant(const std::string& name) {
        const auto outcome = home.knell({"title", name, "--json"});
        if (outcome.status != 0) {
            said = outcome.err;
            return {};
        }
        return text(parse(outcome.out), "session_id");
    }
    std::string said;
};

constexpr auto first = "01a1e04a-f2a2-7527-bba8-10e989f53217";
constexpr auto second = "01a1e04a-f2b0-7527-bba8-000000000000";

TEST_F(SessionName, IsAnyBeginningOfItsIdThatNoOtherHas) {
    open(first);
    open(second);
    open("build-4");
    open("build-42", R"(,"title":"the nightly build")");

    EXPECT_EQ(meant("01a1e04a-f2a"), first);
    EXPECT_EQ(meant("01a1e04a-f2b"), second);
    EXPECT_EQ(meant("build-4"), "build-4") << "written out";
    EXPECT_EQ(meant("build-42"), "build-42");
    EXPECT_EQ(meant("01a1e04a"), "");
    EXPECT_THAT(said,
                AllOf(HasSubstr("\"01a1e04a\" could be any of these"),
                      HasSubstr("\n  01a1e04a-f2a  idle"), HasSubstr("\n  01a1e04a-f2b  idle")));
    EXPECT_EQ(meant("bui"), "");
    EXPECT_THAT(said, HasSubstr(": the nightly build"));
    EXPECT_EQ(meant("c"), "");
    EXPECT_THAT(said, StartsWith("knell title: no session c;"));
    EXPECT_EQ(meant("a b"), "");
    EXPECT_THAT(said, HasSubstr("\"a b\" is no session id"));
}

TEST_F(SessionName, WhatCouldBeVeryManyIsListedUpToALimit) {
    for (int i = 0; i < 12; ++i) open(fmt::format("many-{:02}", i));

    EXPECT_EQ(meant("many"), "");
    EXPECT_THAT(said,
                AllOf(HasSubstr("many-09"), Not(HasSubstr("many-10")), HasSubstr("\n  and more")));
}

TEST_F(SessionName, IsItsPlaceFromTheNewest) {
    EXPECT_EQ(meant("@last"), "");
    EXPECT_THAT(said, HasSubstr("there is no session @last: none was opened yet"));
    open("oldest");
    open("older");
    client.must("session.close", R"({"session_id":"older"})");
    open("newest");
    create(R"({"id":"helper","source":"subagent"})");

    EXPECT_EQ(meant("@last"), "newest");
    EXPECT_EQ(meant("@1"), "newest");
    EXPECT_EQ(meant("@2"), "older") << "ended ones count";
    EXPECT_EQ(meant("@3"), "oldest");
    EXPECT_EQ(meant("@4"), "");
    EXPECT_THAT(said, HasSubstr("there is no session @4: there are 3"));
    EXPECT_EQ(meant("@0"), "");
    EXPECT_EQ(meant("@1001"), "");
    EXPECT_THAT(said, HasSubstr("too far back"));

    open("@2");
    EXPECT_EQ(meant("@2"), "@2") << "an id that is written out";
}

TEST_F(SessionName, EveryVerbTakesIt) {
    open(first, R"(,"key":"k:1")");
    open("other");

    for (const char* verb : {"show", "why", "pin", "unpin"}) {
        EXPECT_EQ(home.knell({verb, "01a1"}).status, 0) << verb;
    }
    EXPECT_THAT(home.knell({"events", "--session", "01a1"}).out, HasSubstr("session:start"));
    EXPECT_EQ(home.knell({"ps", "--session", "01a1"}).status, 0);
    EXPECT_THAT(home.knell({"end", "01a1", "--dry-run", "--json"}).out, HasSubstr(first));
    EXPECT_THAT(home.knell({"suspend", "01a1"}).out, Not(HasSubstr("no session")));
    EXPECT_EQ(home.knell({"start", "--session", "01a1", "--", "sleep", "0"}).status, 0);
    EXPECT_EQ(home.knell({"stop", "--session", "01a1"}).status, 0);

    const auto ended = home.knell({"end", "01a1", "ot", "--yes", "--json"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(text(show(first), "status"), "ended");
    EXPECT_EQ(text(show("other"), "status"), "ended");
}

TEST_F(SessionName, AKeyComesBeforeTheBeginningOfAnId) {
    open("key-of-another");
    open("s", R"(,"key":"key")");

    const auto branched = home.knell({"branch", "key", "--json"});
    EXPECT_THAT(branched.out, HasSubstr(R"("s")"));
    const auto by_id = home.knell({"branch", "key-", "--json"});
    EXPECT_THAT(by_id.out, HasSubstr("key-of-another"));
}

TEST_F(SessionName, OfOneThatIsNoLongerOnRecordItsEventsAreStillFound) {
    EXPECT_THAT(home.knell({"events", "--session", "gone"}).err, HasSubstr("no events"));
}

}  // namespace
}  // namespace knell::functional
