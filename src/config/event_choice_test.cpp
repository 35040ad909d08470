#include "config/event_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EventChoice, TakesNamesAndPatterns) {
    const auto choice = choose_events({"session:*", "notice"});

    EXPECT_TRUE(choice.filter.wants(EventType::session_end));
    EXPECT_TRUE(choice.filter.wants(EventType::notice));
    EXPECT_FALSE(choice.filter.wants(EventType::agent_end));
    EXPECT_THAT(choice.remarks, IsEmpty());
}

TEST(EventChoice, RemarksOnWhatIsNeverSent) {
    const auto choice = choose_events({"agent:step", "session:end", "command:*"});

    EXPECT_TRUE(choice.filter.wants(EventType::session_end));
    EXPECT_THAT(choice.remarks,
                ElementsAre("knell never sends agent:step", "knell never sends command:*"));
}

TEST(EventChoice, NamesWhatWasProbablyMeant) {
    EXPECT_THAT(choose_events({"session:ended", "session:end"}).remarks,
                ElementsAre("knell never sends session:ended; did you mean session:end?"));
}

TEST(EventChoice, RemarksOnDeafness) {
    EXPECT_THAT(choose_events({"agent:step"}).remarks,
                ElementsAre("knell never sends agent:step",
                            "it hears nothing: knell sends none of its events"));
}

}  // namespace
}  // namespace knell
