// Searching what was said, as clients and people do it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Search : public WithDaemon {
  protected:
    void say(std::string_view id, std::string_view content) {
        client.must("session.append",
                    fmt::format(R"({{"session_id":"{}","generation":1,"messages":[)"
                                R"({{"role":"user","content":"{}"}}]}})",
                                id, content));
    }
    std::vector<std::string> found(std::string_view params) {
        std::vector<std::string> snippets;
        const auto result = client.must("session.search", params);
        for (const auto& one : at(result, "results").as_array()) {
            snippets.push_back(text(one, "snippet"));
        }
        return snippets;
    }
};

TEST_F(Search, FindsWhatWasJustAcknowledgedAlways) {
    create(R"({"id":"a","source":"cli"})");
    for (int i = 0; i < 300; ++i) {
        say("a", fmt::format("message number{}", i));
        EXPECT_THAT(found(fmt::format(R"({{"query":"number{}"}})", i)),
                    ElementsAre(fmt::format("message number{}", i)));
    }
}

TEST_F(Search, FindsAfterAKillAndAStartWhatWasAcknowledged) {
    create(R"({"id":"a","source":"cli"})");
    for (int life = 0; life < 3; ++life) {
        for (int i = 0; i < 50; ++i) say("a", fmt::format("message life{} number{}", life, i));
        daemon.kill9();
        daemon.restart();
        client = Client(home.socket());
        for (int before = 0; before <= life; ++before) {
            EXPECT_EQ(found(fmt::format(R"({{"query":"life{}","limit":100}})", before)).size(),
                      50U);
        }
    }
}

TEST_F(Search, TellsWhereItWasSaid) {
    create(R"({"id":"a","source":"gateway","key":"k","title":"A talk"})");
    say("a", "the disk is full");

    const auto result =
        client.must("session.search", R"({"query":"FULL disk","source":"gateway"})");

    const auto& one = at(result, "results").as_array().at(0);
    EXPECT_EQ(text(one, "session_id"), "a");
    EXPECT_EQ(text(one, "title"), "A talk");
    EXPECT_EQ(text(one, "key"), "k");
    EXPECT_EQ(text(one, "source"), "gateway");
    EXPECT_EQ(text(one, "role"), "user");
    EXPECT_EQ(at(one, "number").as_int64(), 1);
    EXPECT_EQ(text(one, "snippet"), "the disk is full");
    EXPECT_EQ(at(at(one, "marks").as_array().at(0), "start").as_int64(), 4);
    EXPECT_THAT(found(R"({"query":"disk","source":"cli"})"), IsEmpty());
    EXPECT_THAT(found(R"({"query":"disk","since":"1h"})"), ElementsAre("the disk is full"));
    EXPECT_THAT(found(R"({"query":"disk","since":"2999-01-01T00:00:00Z"})"), IsEmpty());
}

TEST_F(Search, SaysWhatIsWrongWithAQuestion) {
    const auto refusal = [&](std::string_view params) {
        return client.call("session.search", params).message();
    };
    EXPECT_THAT(refusal(R"({"query":"--"})"), HasSubstr("query: has no word in it"));
    EXPECT_THAT(refusal(R"({"query":"a*"})"), HasSubstr("2 letters"));
    EXPECT_THAT(refusal(R"({"query":"a","since":"soon"})"), HasSubstr("since: is neither a time"));
    EXPECT_THAT(refusal(R"({"query":"a","cursor":"7"})"), HasSubstr("cursor: is not one"));
    EXPECT_THAT(refusal(R"({"query":"a","limit":201})"), HasSubstr("limit"));
    EXPECT_THAT(found(R"x({"query":"NEAR(a OR \"b) NOT content : ^c* {"})x"), IsEmpty());
}

TEST_F(Search, OnACommandLine) {
    create(R"({"id":"a","source":"cli","title":"A talk"})");
    say("a", "no space left on device");
    for (int i = 0; i < 30; ++i) say("a", fmt::format("word {}", i));

    const auto one = home.knell({"search", "SPACE", "dev*"});
    EXPECT_EQ(one.status, 0);
    EXPECT_THAT(one.out, HasSubstr("a #1  user"));
    EXPECT_THAT(one.out, HasSubstr("    no space left on device\n"));
    const auto json = home.knell({"search", "word", "--limit", "3", "--json"});
    EXPECT_THAT(json.out, HasSubstr("\"snippet\": \"word 29\""));
    const auto some = home.knell({"search", "word", "--limit", "3"});
    EXPECT_THAT(some.err, HasSubstr("--cursor"));
    const auto none = home.knell({"search", "nothing", "like", "it"});
    EXPECT_EQ(none.status, 0);
    EXPECT_THAT(none.err, HasSubstr("nothing found"));
    EXPECT_EQ(home.knell({"search"}).status, 2);
    EXPECT_EQ(home.knell({"search", "--", "--"}).status, 1);
}

}  // namespace
}  // namespace knell::functional
