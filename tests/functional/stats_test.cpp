// Figures of the last days, and what a list leaves out, as people and programs ask for them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::Not;

class Stats : public WithDaemon {
  protected:
    Stats() {
        create(R"({"id":"a","source":"cli"})");
        create(R"({"id":"b","source":"gateway"})");
        create(R"({"id":"sub","source":"subagent"})");
        client.must("session.append", R"({"session_id":"a","generation":1,"messages":[)"
                                      R"({"role":"user","content":"x","tokens":1200},)"
                                      R"({"role":"assistant","content":"y","tokens":34}]})");
        client.must("session.close", R"({"session_id":"b"})");
    }
};

TEST_F(Stats, AreByDayAndSourceAndSurviveARestart) {
    for (const bool again : {false, true}) {
        if (again) {
            daemon.kill9();
            daemon.restart();
            client = Client(home.socket());
        }
        const auto result = client.must("node.stats", R"({"days":1})");
        const auto& total = at(result, "total");
        EXPECT_EQ(at(total, "starts").as_int64(), 3);
        EXPECT_EQ(at(total, "ends").as_int64(), 1);
        EXPECT_EQ(at(total, "leaked").as_int64(), 0);
        EXPECT_EQ(at(total, "leak_rate").as_double(), 0.0);
        EXPECT_EQ(at(total, "input_tokens").as_int64(), 1200);
        EXPECT_EQ(at(total, "output_tokens").as_int64(), 34);
        const auto& days = at(result, "by_day").as_array();
        ASSERT_EQ(days.size(), 3U);
        EXPECT_EQ(text(days[0], "source"), "cli");
        EXPECT_EQ(text(at(days[1], "reasons").as_array().at(0), "reason"), "completed");
    }
}

TEST_F(Stats, AreDrawnForPeople) {
    const auto drawn = home.knell({"stats", "--days", "3"});
    EXPECT_EQ(drawn.status, 0);
    EXPECT_THAT(drawn.out,
                HasSubstr("3 starts, 1 ends, 0 leaked (0.0 %), 1.2k tokens in, 34 out."));
    EXPECT_THAT(drawn.out, HasSubstr("Ends by reason\n  completed █"));
    EXPECT_THAT(home.knell({"stats", "--json"}).out, HasSubstr("\"leak_rate\": "));
    EXPECT_EQ(home.knell({"stats", "--days", "0"}).status, 2);
}

TEST_F(Stats, AListSaysWhatItFoldsAway) {
    const auto first = client.must("session.list", R"({"limit":1})");
    EXPECT_EQ(at(first, "folded").as_int64(), 2) << "a sub-agent, and one that was closed empty";
    const auto second = client.must("session.list", R"({"limit":1,"all":true})");
    EXPECT_EQ(second.as_object().if_contains("folded"), nullptr);
    EXPECT_THAT(home.knell({"ls"}).err, HasSubstr("2 of sub-agents, of cron or empty"));
    EXPECT_THAT(home.knell({"ls", "--all"}).err, Not(HasSubstr("of cron or empty")));
}

}  // namespace
}  // namespace knell::functional
