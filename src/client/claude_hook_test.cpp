#include "client/claude_hook.hpp"

#include <deque>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Answers calls as it was told to, and writes down what was asked.
class Scripted final : public ClaudeSurroundings {
  public:
    std::deque<Result<JsonObject>> answers;
    std::vector<std::string> calls;
    std::vector<JsonObject> params;
    std::vector<std::string> spooled;  // method and parameters
    std::optional<Run> run_of;
    std::optional<pid_t> process = 42;

    Result<JsonObject> call(std::string_view method, const JsonObject& given) override {
        calls.emplace_back(method);
        params.push_back(given);
        if (answers.empty()) return fail(ErrorCode::unreachable, "no daemon");
        auto answer = std::move(answers.front());
        answers.pop_front();
        return answer;
    }
    std::optional<Run> run() override { return run_of; }
    std::optional<pid_t> agent() override { return process; }
    JsonObject owner_for_call(pid_t pid) override { return {{"pid", pid}}; }
    JsonObject owner_for_spool(pid_t pid) override { return {{"pid", pid}, {"start_ticks", 7}}; }
    Result<void> spool(const SessionId& session, std::span<const SpoolRecord> records) override {
        for (const auto& record : records) {
            spooled.push_back(session.text() + " " + std::string(record.method) + " " +
                              wire::to_text(record.params));
        }
        return {};
    }
    WallTime now() override { return from_millis(0); }
};

ClaudeEvent event_of(std::string_view name, std::string_view rest = "") {
    return *parse_claude_event(R"({"session_id":"c1","cwd":"/srv","hook_event_name":")" +
                               std::string(name) + R"(","tool_name":"Bash","tool_input":{"a":1})" +
                               std::string(rest) + "}");
}

JsonObject shown(std::string_view status = "idle", int pid = 42) {
    return {{"id", "c1"}, {"status", status}, {"generation", 3}, {"owner", {{"pid", pid}}}};
}

Result<JsonObject> refused(ErrorCode code) {
    return fail(code, "no");
}

class ClaudeHookTest : public ::testing::Test {
  protected:
    std::string handle(std::string_view name, std::string_view rest = "") {
        const auto said = ClaudeHook(around).handle(event_of(name, rest));
        failure = said ? "" : said.error().message;
        return said.value_or("failed");
    }
    Scripted around;
    std::string failure;
};

TEST_F(ClaudeHookTest, AStartOpensASessionOfTheAgent) {
    around.answers = {JsonObject{{"generation", 1}}};
    EXPECT_EQ(handle("SessionStart", R"(,"source":"startup","model":"opus")"), "");
    ASSERT_THAT(around.calls, ElementsAre("session.create"));
    EXPECT_EQ(wire::to_text(around.params[0]),
              R"({"id":"c1","source":"claude-code","cwd":"/srv","model":"opus",)"
              R"("owner":{"pid":42,"command":"claude"}})");
}

TEST_F(ClaudeHookTest, AConversationThatGoesOnIsOpenedAgain) {
    around.answers = {refused(ErrorCode::ended), JsonObject{{"generation", 2}}};
    EXPECT_EQ(handle("SessionStart", R"(,"source":"resume")"), "");
    EXPECT_THAT(around.calls, ElementsAre("session.create", "session.resume"));
    EXPECT_EQ(wire::to_text(around.params[1]),
              R"({"session_id":"c1","owner":{"pid":42,"command":"claude"},"cwd":"/srv"})");
}

TEST_F(ClaudeHookTest, AConversationThatAnotherProcessHasIsLeftToIt) {
    around.answers = {refused(ErrorCode::owned)};
    EXPECT_EQ(handle("SessionStart", R"(,"source":"resume")"), "");
    EXPECT_THAT(around.calls, ElementsAre("session.create"));
}

TEST_F(ClaudeHookTest, WithoutADaemonStartsAndEndsAreWrittenDown) {
    EXPECT_EQ(handle("SessionStart", R"(,"source":"startup")"), "");
    EXPECT_EQ(handle("SessionEnd", R"(,"reason":"logout")"), "");
    EXPECT_THAT(
        around.spooled,
        ElementsAre(
            HasSubstr(R"(c1 session.create {"id":"c1","source":"claude-code","cwd":"/srv",)"),
            HasSubstr(R"("owner":{"pid":42,"start_ticks":7,"command":"claude"})"),
            R"(c1 session.close {"session_id":"c1","reason":"completed","detail":"SessionEnd: logout"})"));
}

TEST_F(ClaudeHookTest, WithoutADaemonReportsAreDropped) {
    for (const auto* name : {"PostToolUse", "PostToolUseFailure", "PreToolUse", "Stop"}) {
        EXPECT_EQ(handle(name), "failed");
        EXPECT_EQ(failure, "no daemon");
    }
    EXPECT_THAT(around.spooled, IsEmpty());
}

TEST_F(ClaudeHookTest, WhoseProcessNobodyKnowsIsNotWrittenDown) {
    around.process.reset();
    EXPECT_EQ(handle("SessionEnd"), "");
    EXPECT_THAT(around.spooled, IsEmpty());
    handle("SessionStart");
    EXPECT_THAT(failure, HasSubstr("CLAUDE_PID"));
}

TEST_F(ClaudeHookTest, AnEndClosesWhatIsOpenUnderItsGeneration) {
    around.answers = {shown(), JsonObject{}};
    EXPECT_EQ(handle("SessionEnd", R"(,"reason":"clear")"), "");
    EXPECT_EQ(wire::to_text(around.params[1]),
              R"({"session_id":"c1","generation":3,"reason":"manual_reset",)"
              R"("detail":"SessionEnd: clear"})");
}

TEST_F(ClaudeHookTest, AnEndOfAnotherProcessClosesNothing) {
    around.answers = {shown("idle", 43)};
    EXPECT_EQ(handle("SessionEnd", R"(,"reason":"other")"), "");
    EXPECT_THAT(around.calls, ElementsAre("session.show"));
}

TEST_F(ClaudeHookTest, AnEndThatWasToldBeforeIsNoTrouble) {
    around.answers = {shown("ended")};
    EXPECT_EQ(handle("SessionEnd"), "");
    around.answers = {shown(), refused(ErrorCode::fenced)};
    EXPECT_EQ(handle("SessionEnd"), "");
    around.answers = {shown(), refused(ErrorCode::storage)};
    EXPECT_EQ(handle("SessionEnd"), "");
    EXPECT_EQ(around.spooled.size(), 2U) << "the disk is full: written down";
}

TEST_F(ClaudeHookTest, APromptBeginsATurnAndGoesOnWithWhatHadEnded) {
    around.answers = {shown(), JsonObject{}};
    EXPECT_EQ(handle("UserPromptSubmit"), "");
    EXPECT_THAT(around.calls, ElementsAre("session.show", "turn.start"));
    EXPECT_EQ(wire::to_text(around.params[1]), R"({"session_id":"c1","generation":3})");

    around.calls.clear();
    around.answers = {shown("ended"), refused(ErrorCode::ended), JsonObject{{"generation", 4}},
                      JsonObject{}};
    EXPECT_EQ(handle("UserPromptSubmit"), "");
    EXPECT_THAT(around.calls,
                ElementsAre("session.show", "session.create", "session.resume", "turn.start"));
    EXPECT_EQ(wire::int_at(around.params.back(), "generation"), 4);
}

TEST_F(ClaudeHookTest, WhatHasEndedIsNotOpenedByATool) {
    around.answers = {shown("ended")};
    EXPECT_EQ(handle("PostToolUse"), "");
    EXPECT_THAT(around.calls, ElementsAre("session.show"));
}

TEST_F(ClaudeHookTest, ASessionThatNobodyHeardOfIsOpenedByTheFirstCall) {
    around.answers = {refused(ErrorCode::not_found), JsonObject{{"generation", 1}},
                      JsonObject{{"recorded", 1}}};
    EXPECT_EQ(handle("PostToolUse"), "");
    EXPECT_THAT(around.calls, ElementsAre("session.show", "session.create", "tool.report"));
}

TEST_F(ClaudeHookTest, TwoOfItsFirstCallsAtOnceAreBothReported) {
    around.answers = {refused(ErrorCode::not_found), refused(ErrorCode::owned), shown(),
                      JsonObject{{"recorded", 1}}};
    EXPECT_EQ(handle("PostToolUse"), "");
    EXPECT_THAT(around.calls,
                ElementsAre("session.show", "session.create", "session.show", "tool.report"));
}

TEST_F(ClaudeHookTest, ACallIsReportedAsItWent) {
    around.answers = {shown(), JsonObject{{"recorded", 1}}};
    EXPECT_EQ(handle("PostToolUse", R"(,"tool_response":"x")"), "");
    EXPECT_THAT(wire::to_text(around.params[1]),
                HasSubstr(R"("session_id":"c1","generation":3,"tool":"Bash","ok":true,"args":")"));
    EXPECT_TRUE(around.params[1].contains("result_hash"));

    around.answers = {shown(), JsonObject{{"recorded", 1}}};
    EXPECT_EQ(handle("PostToolUseFailure", R"(,"error":"no such file")"), "");
    EXPECT_FALSE(wire::bool_at(around.params.back(), "ok"));
    EXPECT_EQ(wire::text_at(around.params.back(), "error"), "no such file");
}

TEST_F(ClaudeHookTest, ANudgeIsToldTheAgent) {
    around.answers = {shown(), JsonObject{{"recorded", 1}, {"nudge", {{"text", "3 in a row"}}}}};
    EXPECT_EQ(handle("PostToolUseFailure", R"(,"error":"x")"),
              R"({"hookSpecificOutput":{"hookEventName":"PostToolUseFailure",)"
              R"("additionalContext":"3 in a row"}})");
}

TEST_F(ClaudeHookTest, WhatAPersonInterruptedHasNotFailed) {
    EXPECT_EQ(handle("PostToolUseFailure", R"(,"error":"x","is_interrupt":true)"), "");
    EXPECT_THAT(around.calls, IsEmpty());
}

TEST_F(ClaudeHookTest, ACallIsRefusedWhereTheBreakerIsOpen) {
    around.answers = {shown(), JsonObject{{"allow", false}, {"why", "it is open"}}};
    EXPECT_THAT(handle("PreToolUse"), HasSubstr(R"("permissionDecisionReason":"it is open")"));
    around.answers = {shown(), JsonObject{{"allow", true}}};
    EXPECT_EQ(handle("PreToolUse"), "");
    around.answers = {shown(), refused(ErrorCode::ended)};
    EXPECT_EQ(handle("PreToolUse"), "");
}

TEST_F(ClaudeHookTest, UnderARunEverythingIsToldOfItsSession) {
    around.run_of = ClaudeSurroundings::Run{SessionId("run1"), 5};
    EXPECT_EQ(handle("SessionStart"), "");
    EXPECT_THAT(around.calls, IsEmpty()) << "the wrapper keeps that record";
    around.answers = {JsonObject{}, JsonObject{}, JsonObject{{"allow", true}}, JsonObject{}};
    handle("UserPromptSubmit");
    handle("PostToolUse");
    handle("PreToolUse");
    handle("SessionEnd");
    EXPECT_THAT(around.calls, ElementsAre("turn.start", "tool.report", "tool.check", "turn.end"));
    for (const auto& params : around.params) {
        EXPECT_EQ(wire::text_at(params, "session_id"), "run1");
        EXPECT_EQ(wire::int_at(params, "generation"), 5);
    }
    EXPECT_THAT(around.spooled, IsEmpty());
}

TEST_F(ClaudeHookTest, OtherEventsDoNothing) {
    EXPECT_EQ(handle("Notification"), "");
    EXPECT_THAT(around.calls, IsEmpty());
}

TEST_F(ClaudeHookTest, OtherTroubleIsSaid) {
    for (const auto* name : {"SessionStart", "SessionEnd", "Stop", "PostToolUse", "PreToolUse"}) {
        around.answers = {refused(ErrorCode::invalid_params)};
        EXPECT_EQ(handle(name), "failed") << name;
    }
    for (const auto* name : {"SessionEnd", "Stop", "PostToolUse", "PreToolUse"}) {
        around.answers = {shown(), refused(ErrorCode::invalid_params)};
        EXPECT_EQ(handle(name), "failed") << name;
    }
}

}  // namespace
}  // namespace knell::client
