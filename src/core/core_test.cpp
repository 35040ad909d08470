#include <gtest/gtest.h>

#include "core/end.hpp"
#include "core/event.hpp"
#include "core/session.hpp"

namespace knell {
namespace {

TEST(Reasons, TheTableStandsInTheOrderOfTheEnum) {
    for (std::size_t i = 0; i < reason_table.size(); ++i) {
        EXPECT_EQ(static_cast<std::size_t>(reason_table.at(i).reason), i);
        EXPECT_EQ(parse_reason(reason_table.at(i).name), reason_table.at(i).reason);
    }
    EXPECT_FALSE(parse_reason("bored"));
}

TEST(Ids, RefuseWhatCannotBeAFileName) {
    for (const auto* good : {"a", "0193-uuid", "ses_abc", "20260518_084510", "a.b:c@d+e=f-g"}) {
        EXPECT_FALSE(why_not_an_id(good)) << good;
    }
    for (const auto& bad : {std::string(), std::string("a/b"), std::string("a b"),
                            std::string("a\nb"), std::string("..", 2), std::string(300, 'a'),
                            std::string("a\0b", 3), std::string("ü"), std::string("a~b")}) {
        EXPECT_TRUE(why_not_an_id(bad)) << bad;
    }
}

TEST(EventIds, OfStartAndEndFollowFromSessionAndGeneration) {
    Event event;
    event.session_id = SessionId("a.b");
    event.generation = 3;
    event.type = EventType::session_start;
    event.seq = 17;
    EXPECT_EQ(event_id(event, "n1"), "a~b_3_start");
    event.type = EventType::session_end;
    EXPECT_EQ(event_id(event, "n1"), "a~b_3_end");
    event.type = EventType::agent_start;
    EXPECT_EQ(event_id(event, "n1"), "n1_17");
}

TEST(Status, IsDerivedFromFacts) {
    Session session;
    EXPECT_EQ(status_of(session), Status::idle);
    session.parked_since = from_millis(1);
    EXPECT_EQ(status_of(session), Status::detached);
    session.background_since = from_millis(1);
    EXPECT_EQ(status_of(session), Status::background);
    session.attached = 2;
    EXPECT_EQ(status_of(session), Status::attached);
    session.turn_since = from_millis(1);
    EXPECT_EQ(status_of(session), Status::running);
    session.end = End{};
    EXPECT_EQ(status_of(session), Status::ended);
}

}  // namespace
}  // namespace knell
