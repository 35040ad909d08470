#include "core/event_filter.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(EventFilter, AnExactNameWantsThatEventAlone) {
    EventFilter filter;
    EXPECT_TRUE(filter.add("session:end"));
    EXPECT_EQ(filter.types(), std::vector{EventType::session_end});
}

TEST(EventFilter, AStarWantsTheWholeFamily) {
    EventFilter filter;
    EXPECT_TRUE(filter.add("agent:*"));
    EXPECT_EQ(filter.types(),
              (std::vector{EventType::agent_start, EventType::agent_end, EventType::agent_stuck}));
}

TEST(EventFilter, AStarAloneWantsEverything) {
    EventFilter filter;
    EXPECT_TRUE(filter.add("*"));
    EXPECT_EQ(filter, EventFilter::all());
}

TEST(EventFilter, ANameThatIsNeverSentIsReportedAndChangesNothing) {
    EventFilter filter;
    for (const auto* pattern :
         {"agent:step", "sesion:end", "session", "session:", "command:*", ""}) {
        EXPECT_FALSE(filter.add(pattern)) << pattern;
    }
    EXPECT_TRUE(filter.wants_nothing());
}

}  // namespace
}  // namespace knell
