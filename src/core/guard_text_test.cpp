#include "core/guard_text.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using ::testing::HasSubstr;

TEST(GuardText, NamesTheToolTheStreakTheErrorAndOneAlternative) {
    std::set<std::string> texts;
    for (std::size_t kind = 0; kind < nudge_kind_names.size(); ++kind) {
        for (std::size_t level = 0; level < nudge_level_names.size(); ++level) {
            const auto text = nudge_text({.kind = static_cast<NudgeKind>(kind),
                                          .level = static_cast<NudgeLevel>(level),
                                          .streak = 17,
                                          .tool = "Bash",
                                          .other_tool = "Read",
                                          .error = "no such file"});
            EXPECT_THAT(text, HasSubstr("Bash"));
            EXPECT_THAT(text, HasSubstr("17"));
            EXPECT_THAT(text, HasSubstr("\"no such file\""));
            EXPECT_LT(text.size(), 700U);
            const auto last = static_cast<NudgeLevel>(level) == NudgeLevel::stop_and_rethink;
            EXPECT_EQ(text.contains("Stop and rethink"), last) << text;
            texts.insert(text);
        }
    }
    EXPECT_EQ(texts.size(), nudge_kind_names.size() * nudge_level_names.size());
}

TEST(GuardText, SaysNothingOfAnErrorWhereThereWasNone) {
    EXPECT_EQ(nudge_text({.kind = NudgeKind::same_tool,
                          .level = NudgeLevel::advice,
                          .streak = 12,
                          .tool = "Look",
                          .other_tool = {},
                          .error = {}}),
              "Look was called 12 times in a row. See whether one broader call, or another tool, "
              "gets you there at once.");
}

TEST(GuardText, OneToolMayGoRoundByItself) {
    EXPECT_THAT(nudge_text({.kind = NudgeKind::cycle,
                            .level = NudgeLevel::advice,
                            .streak = 4,
                            .tool = "Read",
                            .other_tool = "Read",
                            .error = {}}),
                HasSubstr("the same two of Read by turns"));
}

TEST(HarmlessLine, BreaksNoLineAndTurnsNoDirection) {
    EXPECT_EQ(harmless_line(" a\r\nb\tc\x7f ", 100), "a? b c?");
    EXPECT_EQ(harmless_line("a\xe2\x80\xa8z\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", 100), "a?z???");
    EXPECT_EQ(harmless_line("\xe2\x82\xac 5", 100), "\xe2\x82\xac 5");
}

TEST(HarmlessLine, IsCutBetweenLetters) {
    EXPECT_EQ(harmless_line("abcdef", 4), "abcd");
    EXPECT_EQ(harmless_line("ab\xe2\x82\xac", 4), "ab");
    EXPECT_EQ(harmless_line("ab\xe2\x82\xac", 5), "ab\xe2\x82\xac");
    EXPECT_EQ(harmless_line("", 4), "");
}

TEST(RefusalText, NamesWhatIsRefused) {
    GuardState state;
    state.told = Stuck{.kind = NudgeKind::cycle, .streak = 16, .tool = "B", .other_tool = "A"};
    state.breaker = {.state = BreakerState::open,
                     .kind = NudgeKind::cycle,
                     .until = {},
                     .tool = "B",
                     .other_tool = "A"};
    const std::chrono::seconds left{9};
    EXPECT_THAT(refusal_text(state, left), HasSubstr("these calls of A and B are refused"));
    state.breaker.kind = NudgeKind::same_call;
    EXPECT_THAT(refusal_text(state, left), HasSubstr("this call of B"));
    state.breaker.kind = NudgeKind::same_tool;
    EXPECT_THAT(refusal_text(state, left), HasSubstr("calls of B"));
    state.breaker.state = BreakerState::half_open;
    state.breaker.tried = "B";
    EXPECT_THAT(refusal_text(state, left), HasSubstr("lets one call of B through"));
}

}  // namespace
}  // namespace knell
