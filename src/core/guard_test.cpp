#include "core/guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SteadyTime at(std::chrono::nanoseconds time) {
    return SteadyTime{time};
}

ToolReport good(std::string tool, std::optional<std::uint64_t> args = {},
                std::optional<std::uint64_t> result = {}) {
    return {.call = {std::move(tool), args}, .ok = true, .error = {}, .result = result};
}

ToolReport failed(std::string tool, std::string error = "no such file") {
    return {.call = {std::move(tool), {}}, .ok = false, .error = std::move(error), .result = {}};
}

/// A session's guard, and what it said of each call: "errors advice 3", or "".
struct Watched {
    GuardPolicy policy;
    GuardState state;
    SteadyTime now{};

    std::string say(const ToolReport& report) {
        const auto stuck = note_call(state, report, policy, now, from_millis(7));
        if (!stuck) return {};
        return std::string(name_of_kind(*stuck)) + " " + std::string(name_of_level(*stuck)) + " " +
               std::to_string(stuck->streak);
    }
    std::vector<std::string> say_often(std::size_t times, const ToolReport& report) {
        std::vector<std::string> said;
        for (std::size_t i = 1; i <= times; ++i) {
            if (auto one = say(report); !one.empty()) said.push_back(std::move(one));
        }
        return said;
    }
    bool allows(std::string tool, std::optional<std::uint64_t> args = {}) {
        return request_call(state, {std::move(tool), args}, policy, now).allow;
    }

    static std::string_view name_of_kind(const Stuck& stuck) {
        return nudge_kind_names.at(static_cast<std::size_t>(stuck.kind));
    }
    static std::string_view name_of_level(const Stuck& stuck) {
        return nudge_level_names.at(static_cast<std::size_t>(stuck.level));
    }
};

TEST(Guard, ErrorsInARowAreToldAtEachThird) {
    Watched session;
    session.policy.same_tool = 0;
    EXPECT_THAT(session.say_often(13, failed("Bash")),
                ElementsAre("errors advice 3", "errors warning 6", "errors stop_and_rethink 9",
                            "errors stop_and_rethink 12"));
}

TEST(Guard, ErrorsOfDifferentToolsCountTogether) {
    Watched session;
    EXPECT_EQ(session.say(failed("Bash")), "");
    EXPECT_EQ(session.say(failed("Read")), "");
    EXPECT_EQ(session.say(failed("Edit")), "errors advice 3");
}

TEST(Guard, ASuccessBeginsANewRow) {
    Watched session;
    session.say_often(2, failed("Bash"));
    session.say(good("Bash"));
    EXPECT_EQ(session.say(failed("Bash")), "");
    EXPECT_EQ(session.say(failed("Bash")), "");
    EXPECT_EQ(session.say(failed("Bash")), "errors advice 3");
}

TEST(Guard, TheSameCallIsToldAtEachDoubling) {
    Watched session;
    EXPECT_THAT(session.say_often(24, good("Read", 1, 2)),
                ElementsAre("same_call advice 3", "same_call warning 6",
                            "same_call stop_and_rethink 12", "same_call stop_and_rethink 24"));
}

TEST(Guard, AnotherResultIsNoRepetition) {
    Watched session;
    for (std::uint64_t result = 0; result < 11; ++result) {
        EXPECT_EQ(session.say(good("Read", 1, result)), "");
    }
}

TEST(Guard, CallsWithoutArgumentsAreNotTakenForTheSame) {
    Watched session;
    EXPECT_TRUE(session.say_often(11, good("Look")).empty());
}

TEST(Guard, TheSameToolIsToldAtEachDoubling) {
    Watched session;
    std::vector<std::string> said;
    for (std::uint64_t i = 0; i < 48; ++i) {
        if (auto one = session.say(good("Look", i)); !one.empty()) said.push_back(one);
    }
    EXPECT_THAT(said, ElementsAre("same_tool advice 12", "same_tool warning 24",
                                  "same_tool stop_and_rethink 48"));
}

TEST(Guard, SomeToolsMayBeCalledInARow) {
    Watched session;
    session.policy.normal_tools = {"Bash"};
    for (std::uint64_t i = 0; i < 48; ++i) EXPECT_EQ(session.say(good("Bash", i)), "");
    // What they do is known all the same.
    EXPECT_EQ(session.say(good("Bash", 7)), "");
    EXPECT_EQ(session.say(good("Bash", 7)), "");
    EXPECT_EQ(session.say(good("Bash", 7)), "same_call advice 3");
}

TEST(Guard, TwoCallsByTurnsAreACycle) {
    Watched session;
    std::vector<std::string> said;
    for (int i = 0; i < 8; ++i) {
        for (auto* tool : {"Edit", "Test"}) {
            if (auto one = session.say(good(tool, 1, 1)); !one.empty()) said.push_back(one);
        }
    }
    EXPECT_THAT(said,
                ElementsAre("cycle advice 4", "cycle warning 8", "cycle stop_and_rethink 16"));
}

TEST(Guard, ACycleMayBeginBehindARepetition) {
    Watched session;
    session.say(good("A", 1));
    session.say(good("A", 1));
    EXPECT_EQ(session.say(good("B", 1)), "");
    EXPECT_EQ(session.say(good("A", 1)), "");
    EXPECT_EQ(session.say(good("B", 1)), "cycle advice 4");
}

TEST(Guard, AThirdCallEndsACycle) {
    Watched session;
    for (auto* tool : {"A", "B", "A", "C", "A", "B"}) {
        EXPECT_EQ(session.say(good(tool, 1)), "") << tool;
    }
}

TEST(Guard, ErrorsComeFirst) {
    Watched session;
    session.policy.same_call = 3;
    auto report = failed("Bash");
    report.call.args = 1;
    EXPECT_THAT(session.say_often(3, report), ElementsAre("errors advice 3"));
}

TEST(Guard, AThresholdOfZeroIsNever) {
    Watched session;
    session.policy = {.errors = 0, .same_call = 0, .same_tool = 0, .cycle = 0, .normal_tools = {}};
    EXPECT_TRUE(session.say_often(50, failed("Bash")).empty());
}

TEST(Guard, TheLastErrorIsKeptShortAndHarmless) {
    Watched session;
    session.say(failed("Bash", "  a\x1b[31m\nb\xe2\x80\xae" + std::string(5000, 'x')));
    EXPECT_THAT(session.state.error, ::testing::StartsWith("a?[31m b?xxx"));
    EXPECT_LE(session.state.error.size(), 200U);
}

TEST(Guard, AnErrorOfWhatGoesOnIsStillTheLastOne) {
    Watched session;
    session.say(failed("Edit", "not found"));
    session.say(good("Test"));
    session.say(failed("Edit", "not found"));
    EXPECT_EQ(session.say(good("Test")), "cycle advice 4");
    EXPECT_EQ(session.state.told->error, "not found");
    session.say(good("Read"));
    EXPECT_EQ(session.state.error, "");
}

// --- the breaker --------------------------------------------------------------------------------

Watched with_breaker() {
    Watched session;
    session.policy.breaker = BreakerMode::open;
    session.policy.same_tool = 0;
    session.policy.cool_down = 60s;
    return session;
}

TEST(GuardBreaker, OnlyAdvisesUnlessToldTo) {
    Watched session;
    session.say_often(9, failed("Bash"));
    EXPECT_TRUE(session.allows("Bash"));
}

TEST(GuardBreaker, OpensAtTheThirdLevel) {
    auto session = with_breaker();
    session.say_often(8, failed("Bash"));
    EXPECT_TRUE(session.allows("Bash"));
    session.say(failed("Bash"));
    EXPECT_FALSE(session.allows("Bash"));
    EXPECT_FALSE(session.allows("Read")) << "failures are the session's, whatever the tool";
    session.now = at(60s) - 1ns;
    EXPECT_FALSE(session.allows("Bash"));
}

TEST(GuardBreaker, SaysWhyAndForHowLong) {
    auto session = with_breaker();
    session.say_often(9, failed("Bash", "no such file"));
    session.now = at(18s);
    const auto refused = request_call(session.state, {"Bash", {}}, session.policy, session.now);
    EXPECT_EQ(refused.retry_after, 42s);
    EXPECT_THAT(refused.why, HasSubstr("9 tool calls in a row have failed"));
    EXPECT_THAT(refused.why, HasSubstr("no such file"));
    EXPECT_THAT(refused.why, HasSubstr("42 s"));
}

TEST(GuardBreaker, LetsExactlyOneThroughWhenItHasCooledDown) {
    auto session = with_breaker();
    session.say_often(9, failed("Bash"));
    session.now = at(60s);
    EXPECT_TRUE(session.allows("Read"));
    for (int i = 0; i < 63; ++i) EXPECT_FALSE(session.allows("Bash"));
    session.say(good("Read"));
    EXPECT_TRUE(session.allows("Bash"));
    EXPECT_EQ(session.state.breaker, Breaker{});
}

TEST(GuardBreaker, OpensAgainWhenTheOneFails) {
    auto session = with_breaker();
    session.say_often(9, failed("Bash"));
    session.now = at(60s);
    EXPECT_TRUE(session.allows("Bash"));
    session.now = at(70s);
    session.say(failed("Bash"));
    session.now = at(130s) - 1ns;
    EXPECT_FALSE(session.allows("Bash"));
    session.now = at(130s);
    EXPECT_TRUE(session.allows("Bash"));
}

TEST(GuardBreaker, LetsAnotherThroughWhenNothingIsHeardOfTheOne) {
    auto session = with_breaker();
    session.say_often(9, failed("Bash"));
    session.now = at(60s);
    EXPECT_TRUE(session.allows("Bash"));
    session.now = at(120s) - 1ns;
    EXPECT_FALSE(session.allows("Bash"));
    session.now = at(120s);
    EXPECT_TRUE(session.allows("Bash"));
    EXPECT_FALSE(session.allows("Bash"));
}

TEST(GuardBreaker, IsClosedWhenItsReasonIsOverByThen) {
    auto session = with_breaker();
    session.say_often(9, failed("Bash"));
    session.say(good("Read"));  // that was under way
    EXPECT_FALSE(session.allows("Bash"));
    session.now = at(60s);
    EXPECT_TRUE(session.allows("Bash"));
    EXPECT_TRUE(session.allows("Bash"));
}

TEST(GuardBreaker, RefusesOnlyTheCallThatIsRepeated) {
    auto session = with_breaker();
    session.say_often(12, good("Read", 1, 1));
    EXPECT_FALSE(session.allows("Read", 1));
    EXPECT_TRUE(session.allows("Read", 2));
    EXPECT_TRUE(session.allows("Edit", 1));
    EXPECT_FALSE(session.allows("Read")) << "it may be that call";
}

TEST(GuardBreaker, RefusesBothCallsOfACycle) {
    auto session = with_breaker();
    for (int i = 0; i < 8; ++i) {
        session.say(good("A", 1));
        session.say(good("B", 2));
    }
    EXPECT_FALSE(session.allows("A", 1));
    EXPECT_FALSE(session.allows("B", 2));
    EXPECT_FALSE(session.allows("A"));
    EXPECT_FALSE(session.allows("B"));
    EXPECT_TRUE(session.allows("A", 2));
    EXPECT_TRUE(session.allows("C"));
}

TEST(GuardBreaker, RefusesTheToolThatIsCalledOverAndOver) {
    auto session = with_breaker();
    session.policy.same_tool = 2;
    for (std::uint64_t i = 0; i < 8; ++i) session.say(good("Look", i));
    EXPECT_FALSE(session.allows("Look", 99));
    EXPECT_TRUE(session.allows("Read", 99));
}

TEST(GuardBreaker, IsClosedWhenItIsSwitchedOff) {
    auto session = with_breaker();
    session.say_often(9, failed("Bash"));
    session.policy.breaker = BreakerMode::advise;
    EXPECT_TRUE(session.allows("Bash"));
    session.policy.breaker = BreakerMode::open;
    EXPECT_TRUE(session.allows("Bash"));
}

TEST(GuardText, IsReadBackAsItWas) {
    const Stuck stuck{.kind = NudgeKind::cycle,
                      .level = NudgeLevel::warning,
                      .streak = 8,
                      .tool = "a\tb\\",
                      .other_tool = "c",
                      .error = "line\nline"};
    EXPECT_EQ(stuck_from_text(to_text(stuck)), stuck);
    EXPECT_EQ(stuck_from_text(""), Stuck{});
    EXPECT_EQ(stuck_from_text("?\t?\t-1"), Stuck{});
}

TEST(GuardCounts, AddUp) {
    GuardCounts counts{.reports = 3, .errors = 2, .denials = 1};
    counts.add(Stuck{.kind = NudgeKind::cycle, .level = NudgeLevel::warning});
    GuardCounts sum = counts;
    sum.add(counts);
    EXPECT_EQ(sum.reports, 6U);
    EXPECT_EQ(sum.errors, 4U);
    EXPECT_EQ(sum.denials, 2U);
    EXPECT_EQ(sum.of(NudgeLevel::warning), 2U);
    EXPECT_EQ(sum.of(NudgeLevel::advice), 0U);
}

}  // namespace
}  // namespace knell
