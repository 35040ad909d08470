#include "client/claude_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::client {
namespace {

using ::testing::HasSubstr;
using Kind = ClaudeEvent::Kind;

ClaudeEvent parse(std::string_view text) {
    auto event = parse_claude_event(text);
    EXPECT_TRUE(event.has_value()) << event.error().message;
    return event.value_or(ClaudeEvent{});
}

TEST(ClaudeEvent, KnowsWhatStartsAndEnds) {
    const auto start = parse(
        R"({"session_id":"9f6c","transcript_path":"/t","cwd":"/srv/a","hook_event_name":"SessionStart",
            "source":"resume","model":"opus","session_title":"Fix it","seconds_since_last_response":3})");
    EXPECT_EQ(start.kind, Kind::session_start);
    EXPECT_EQ(start.session.text(), "9f6c");
    EXPECT_EQ(start.cwd, "/srv/a");
    EXPECT_EQ(start.word, "resume");
    EXPECT_EQ(start.model, "opus");
    EXPECT_EQ(start.title, "Fix it");
    const auto end =
        parse(R"({"session_id":"s","hook_event_name":"SessionEnd","reason":"prompt_input_exit"})");
    EXPECT_EQ(end.kind, Kind::session_end);
    EXPECT_EQ(end.word, "prompt_input_exit");
    EXPECT_EQ(parse(R"({"session_id":"s","hook_event_name":"UserPromptSubmit"})").kind,
              Kind::prompt);
    EXPECT_EQ(parse(R"({"session_id":"s","hook_event_name":"Stop"})").kind, Kind::stop);
    EXPECT_EQ(parse(R"({"session_id":"s","hook_event_name":"StopFailure"})").kind, Kind::stop);
    EXPECT_EQ(parse(R"({"session_id":"s","hook_event_name":"MessageDisplay"})").kind, Kind::other);
    EXPECT_EQ(parse(R"({"session_id":"s"})").kind, Kind::other);
}

TEST(ClaudeEvent, KnowsACallByWhatItWasGivenAndWhatCameOfIt) {
    const auto call = [](std::string_view rest) {
        return parse(R"({"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash",)" +
                     std::string(rest) + "}");
    };
    const auto one =
        call(R"("tool_input":{"command":"ls","timeout":1},"tool_response":{"stdout":"a"})");
    const auto same =
        call(R"("tool_response":{"stdout":"a"},"tool_input":{"timeout":1.0,"command":"ls"})");
    const auto other =
        call(R"("tool_input":{"command":"ls","timeout":1},"tool_response":{"stdout":"b"})");
    EXPECT_EQ(one.kind, Kind::tool_succeeded);
    EXPECT_EQ(one.tool, "Bash");
    EXPECT_EQ(one.args.size(), 16U);
    EXPECT_EQ(one.args, same.args);
    EXPECT_EQ(one.result, same.result);
    EXPECT_EQ(one.args, other.args);
    EXPECT_NE(one.result, other.result);
    EXPECT_EQ(call(R"("x":1)").args, "");
}

TEST(ClaudeEvent, AFailureSaysWhyAndIsCut) {
    const auto failed = parse(
        R"({"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash",
            "tool_input":{},"error":"Exit code 1\nno such file","is_interrupt":true})");
    EXPECT_EQ(failed.kind, Kind::tool_failed);
    EXPECT_EQ(failed.error, "Exit code 1\nno such file");
    EXPECT_TRUE(failed.is_interrupted);
    const auto long_one = parse(
        R"({"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":")" +
        std::string(100'000, 'x') + R"("})");
    EXPECT_EQ(long_one.error.size(), 16U << 10U);
}

TEST(ClaudeEvent, TextsFitIntoACall) {
    const auto event = parse(R"({"session_id":"s","hook_event_name":"PreToolUse","tool_name":")" +
                             std::string(500, 't') + R"(","cwd":"/a\nb\u0007"})");
    EXPECT_EQ(event.tool.size(), 200U);
    EXPECT_EQ(event.cwd, "/a b?");
}

TEST(ClaudeEvent, WhatIsNoUseIsAnError) {
    const auto why = [](std::string_view text) {
        const auto event = parse_claude_event(text);
        return event ? std::string("taken") : event.error().message;
    };
    EXPECT_THAT(why(""), HasSubstr("JSON"));
    EXPECT_EQ(why("[1]"), "standard input is no JSON object");
    EXPECT_THAT(why(R"({"hook_event_name":"Stop"})"), HasSubstr("session_id"));
    EXPECT_THAT(why(R"({"session_id":"../x","hook_event_name":"Stop"})"), HasSubstr("session_id"));
    EXPECT_THAT(why(R"({"session_id":7,"hook_event_name":"Stop"})"), HasSubstr("session_id"));
    EXPECT_EQ(why(R"({"session_id":"s","hook_event_name":"PreToolUse"})"), "tool_name is missing");
}

TEST(ClaudeOutput, IsWhatTheAgentReads) {
    ClaudeEvent event;
    event.name = "PostToolUseFailure";
    EXPECT_EQ(claude_context(event, "stop \"it\""),
              R"({"hookSpecificOutput":{"hookEventName":"PostToolUseFailure",)"
              R"("additionalContext":"stop \"it\""}})");
    EXPECT_EQ(claude_refusal("no"),
              R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",)"
              R"("permissionDecisionReason":"no"}})");
}

}  // namespace
}  // namespace knell::client
