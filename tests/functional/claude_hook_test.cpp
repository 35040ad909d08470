// `knell hook claude-code` as Claude Code runs it: an object on standard input, words for the agent
// or nothing on standard output, and always 0.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string event(std::string_view name, std::string_view rest = "", std::string_view id = "c1") {
    return fmt::format(R"({{"session_id":"{}","cwd":"/srv","hook_event_name":"{}"{}}})", id, name,
                       rest);
}

std::string failure(std::string_view command = "cat /nowhere") {
    return event("PostToolUseFailure",
                 fmt::format(R"(,"tool_name":"Bash","tool_input":{{"command":"{}"}},)"
                             R"("error":"Exit code 1\ncat: /nowhere: No such file")",
                             command));
}

Outcome run_hook(const TempHome& home, const std::string& input, const Environment& more = {}) {
    auto command = home.command({"hook", "claude-code"});
    // The test stands for the agent.
    command.environment["CLAUDE_PID"] = std::to_string(::getpid());
    for (const auto& [name, value] : more) command.environment[name] = value;
    return run_command(std::move(command), input);
}

class ClaudeCodeHook : public WithOwners {
  protected:
    /// What it says to the agent; it never fails.
    std::string hook(const std::string& input, const Environment& more = {}) {
        const auto outcome = run_hook(home, input, more);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return outcome.out;
    }
};

TEST_F(ClaudeCodeHook, KeepsTheRecordOfASession) {
    EXPECT_EQ(hook(event("SessionStart", R"(,"source":"startup","model":"opus")")), "");
    EXPECT_EQ(hook(event("UserPromptSubmit", R"(,"prompt":"hello")")), "");
    const auto session = show("c1");
    EXPECT_EQ(text(session, "source"), "claude-code");
    EXPECT_EQ(text(session, "cwd"), "/srv");
    EXPECT_EQ(text(session, "status"), "running");
    EXPECT_EQ(number(session, "owner.pid"), ::getpid());
    EXPECT_EQ(hook(event("Stop", R"(,"stop_hook_active":false,"background_tasks":[])")), "");
    EXPECT_EQ(hook(event("SessionEnd", R"(,"reason":"prompt_input_exit")")), "");

    EXPECT_EQ(text(show("c1"), "reason"), "completed");
    EXPECT_EQ(text(show("c1"), "detail"), "SessionEnd: prompt_input_exit");
    EXPECT_THAT(story_of(client, "c1"),
                ElementsAre("session:start 1", "agent:start 1", "agent:end 1", "session:end 1"));
    // The same conversation goes on, in the same process or another.
    hook(event("SessionStart", R"(,"source":"resume")"));
    EXPECT_EQ(number(show("c1"), "generation"), 2);
    hook(event("SessionEnd", R"(,"reason":"clear")"));
    EXPECT_EQ(text(show("c1"), "reason"), "manual_reset");
}

TEST_F(ClaudeCodeHook, TellsTheAgentThatItIsStuck) {
    hook(event("SessionStart", R"(,"source":"startup")"));
    EXPECT_EQ(hook(failure("a")), "");
    EXPECT_EQ(hook(failure("b")), "");
    const auto third = parse(hook(failure("c")));
    EXPECT_EQ(text(third, "hookSpecificOutput.hookEventName"), "PostToolUseFailure");
    EXPECT_THAT(text(third, "hookSpecificOutput.additionalContext"),
                HasSubstr("3 tool calls in a row have failed, the last one of Bash."));
    EXPECT_THAT(text(third, "hookSpecificOutput.additionalContext"),
                HasSubstr("cat: /nowhere: No such file"));
    EXPECT_EQ(count_events("agent:stuck"), 1U);
    // A success ends the row, and says nothing.
    EXPECT_EQ(
        hook(event("PostToolUse", R"(,"tool_name":"Read","tool_input":{},"tool_response":"x")")),
        "");
    const auto why = client.must("session.why", R"({"session_id":"c1"})");
    EXPECT_EQ(number(why, "guard.errors"), 0);
}

TEST_F(ClaudeCodeHook, RefusesACallWhereTheBreakerIsOpen) {
    write_file(home.file("config.yaml"), "guard:\n  breaker: open\n");
    daemon.kill9();
    daemon.restart();
    reconnect();
    const auto before = event("PreToolUse", R"(,"tool_name":"Bash","tool_input":{"command":"x"})");
    EXPECT_EQ(hook(before), "") << "and the session is opened by the first call";
    for (int i = 0; i < 9; ++i) hook(failure(std::to_string(i)));

    const auto refused = parse(hook(before));
    EXPECT_EQ(text(refused, "hookSpecificOutput.hookEventName"), "PreToolUse");
    EXPECT_EQ(text(refused, "hookSpecificOutput.permissionDecision"), "deny");
    EXPECT_THAT(text(refused, "hookSpecificOutput.permissionDecisionReason"),
                HasSubstr("9 tool calls in a row have failed"));
}

TEST_F(ClaudeCodeHook, UnderARunReportsToItsSession) {
    own("run1", ::getpid());
    const Environment run{{"KNELL_SESSION_ID", "run1"}, {"KNELL_GENERATION", "1"}};
    EXPECT_EQ(hook(event("SessionStart", R"(,"source":"startup")"), run), "");
    hook(event("UserPromptSubmit"), run);
    EXPECT_EQ(text(show("run1"), "status"), "running");
    hook(failure("a"), run);
    hook(failure("b"), run);
    EXPECT_THAT(hook(failure("c"), run), HasSubstr("3 tool calls"));
    hook(event("SessionEnd", R"(,"reason":"other")"), run);
    EXPECT_EQ(text(show("run1"), "status"), "idle") << "its command ends it";
    EXPECT_EQ(client.call("session.show", R"({"session_id":"c1"})").kind(), "not_found");
    // Whoever was taken over is not heard.
    EXPECT_EQ(hook(failure("d"), {{"KNELL_SESSION_ID", "run1"}, {"KNELL_GENERATION", "7"}}), "");
    const auto why = client.must("session.why", R"({"session_id":"run1"})");
    EXPECT_EQ(number(why, "guard.errors"), 3);
}

TEST_F(ClaudeCodeHook, ManyAtOnceLoseNothing) {
    constexpr int at_once = 24;
    std::vector<Process> hooks;
    std::vector<Pipe> pipes(at_once);
    for (int i = 0; i < at_once; ++i) {
        auto command = home.command({"hook", "claude-code"});
        command.environment["CLAUDE_PID"] = std::to_string(::getpid());
        command.in = pipes[static_cast<std::size_t>(i)].reading.get();
        hooks.emplace_back(command);
    }
    // Nobody has heard of the session: the first to come opens it.
    for (auto& pipe : pipes) {
        const auto input = failure("x");
        ASSERT_EQ(::write(pipe.writing.get(), input.data(), input.size()),
                  static_cast<ssize_t>(input.size()));
        pipe.writing.reset();
    }
    for (auto& one : hooks) EXPECT_EQ(one.wait(), 0);

    const auto why = client.must("session.why", R"({"session_id":"c1"})");
    EXPECT_EQ(number(why, "guard.errors"), at_once);
    EXPECT_EQ(count_events("session:start"), 1U);
    EXPECT_EQ(count_events("agent:stuck"), static_cast<std::size_t>(at_once / 3));
}

TEST_F(ClaudeCodeHook, WhatItCannotReadIsNoTroubleForTheAgent) {
    for (const auto* input : {"", "{", "[]", R"({"hook_event_name":"Stop"})",
                              R"({"session_id":"../../x","hook_event_name":"SessionStart"})"}) {
        const auto outcome = run_hook(home, input);
        EXPECT_EQ(outcome.status, 0) << input;
        EXPECT_EQ(outcome.out, "") << input;
        EXPECT_THAT(outcome.err, HasSubstr("knell hook claude-code: ")) << input;
    }
    EXPECT_EQ(home.knell({"hook", "nobody"}).status, 1) << "2 would refuse every tool";
}

TEST(ClaudeCodeHookAlone, StartsAndEndsWaitInTheSpool) {
    const TempHome home;
    for (const auto& input :
         {event("SessionStart", R"(,"source":"startup")"), failure(), event("UserPromptSubmit"),
          event("SessionEnd", R"(,"reason":"logout")")}) {
        const auto outcome = run_hook(home, input);
        EXPECT_EQ(outcome.status, 0);
        EXPECT_EQ(outcome.out + outcome.err, "");
    }
    EXPECT_THAT(home.processes(), testing::IsEmpty()) << "no daemon is started";

    Daemon daemon(home);
    daemon.wait_for_log("took in");
    Client client(home.socket());
    const auto session = client.must("session.show", R"({"session_id":"c1"})");
    EXPECT_EQ(text(session, "reason"), "completed");
    EXPECT_EQ(text(session, "detail"), "SessionEnd: logout");
    EXPECT_THAT(story_of(client, "c1"), ElementsAre("session:start 1", "session:end 1"));
}

TEST(ClaudeCodeHookAlone, PrintsWhatToPutIntoTheSettings) {
    const TempHome home;
    const auto outcome = home.knell({"hook", "claude-code", "--print-settings"});
    EXPECT_EQ(outcome.status, 0);
    const auto settings = parse(outcome.out);
    EXPECT_EQ(text(settings, "hooks.PostToolUse.0.hooks.0.command"),
              knell_binary() + " hook claude-code");
    EXPECT_EQ(text(settings, "hooks.SessionEnd.0.hooks.0.type"), "command");
}

/// The real thing: its model is played on loopback and wants the same failing command ten times.
TEST_F(ClaudeCodeHook, RealAgentHearsThatItIsStuck) {
    const auto* wanted = std::getenv("KNELL_TEST_AGENTS");
    if (wanted == nullptr || std::string_view(wanted) != "1") {
        GTEST_SKIP() << "runs with KNELL_TEST_AGENTS=1, where `claude` is in PATH";
    }
    const auto agent = run_command({.argv = {"sh", "-c", "command -v claude"},
                                    .environment = {{"PATH", std::getenv("PATH")}}});
    if (agent.status != 0) GTEST_SKIP() << "needs claude, of npm's @anthropic-ai/claude-code";
    const auto claude = agent.out.substr(0, agent.out.find('\n'));
    const auto settings = home.knell({"hook", "claude-code", "--print-settings"}).out;
    const auto outcome =
        run_command({.argv = {"node", "stuck_agent.mjs", claude, home.path(), settings, "10"},
                     .environment = home.environment(),
                     .cwd = KNELL_RECEIVERS_DIR});

    // What the model was sent beside the results of its calls.
    EXPECT_THAT(outcome.out, HasSubstr("3 tool calls in a row have failed, the last one of Bash"))
        << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("6 tool calls in a row have failed"));
    EXPECT_THAT(outcome.out, HasSubstr("9 tool calls in a row have failed"));
    EXPECT_THAT(outcome.out, HasSubstr(R"("status":0)"));
    EXPECT_EQ(count_events("agent:stuck"), 3U);
    const auto sessions = client.must("session.list", R"({"source":"claude-code","all":true})");
    ASSERT_EQ(array(sessions, "sessions").size(), 1U);
    const auto id = text(sessions, "sessions.0.id");
    EXPECT_THAT(story_of(client, id),
                ElementsAre("session:start 1", "agent:start 1", "agent:stuck 1", "agent:stuck 1",
                            "agent:stuck 1", "agent:end 1", "session:end 1"));
    EXPECT_EQ(text(show(id), "reason"), "completed");
    EXPECT_THAT(text(show(id), "detail"), HasSubstr("SessionEnd"));
}

}  // namespace
}  // namespace knell::functional
