#include "mcp/tool_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/scripted_surroundings.hpp"

namespace knell::mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptedSurroundings;

constexpr auto server_row = R"({"process_id":"p-1","session_id":"s","session":"ended","pid":42,
    "command":"python3 -m http.server","started_at":"2026-05-18T10:00:00.000Z","state":"running",
    "activity":"listening","evidence":"no CPU for 2 h","counts":false,"title":"docs"})";
constexpr auto gone_row = R"({"process_id":"p-1","session_id":"s","session":"open","pid":42,
    "command":"make","started_at":"2026-05-18T10:00:00.000Z","state":"exited",
    "exit":{"kind":"signaled","signal":15}})";

/// The row with these fields too.
std::string with(std::string_view row, std::string_view more) {
    return std::string(row.substr(0, row.size() - 1)).append(",").append(more).append("}");
}

class ToolCalls : public ::testing::Test {
  protected:
    ToolResult call(std::string_view tool, std::string_view arguments = "{}") {
        return call_tool(*find_tool(tool), wire::parse_json(arguments).value().as_object(), world);
    }

    ScriptedSurroundings world;
};

TEST_F(ToolCalls, ListNamesWhatEachIsDoingAndWhose) {
    world.session = "s";
    world.answers(R"({"id":"s"})");
    world.answers(std::string(R"({"processes":[)") + server_row + "," + gone_row + "]}");
    const auto result = call("process_list", R"({"task_id":"t","all":true,"limit":null})");
    EXPECT_THAT(world.asked,
                ElementsAre(R"(session.show {"session_id":"s"})",
                            R"(process.list {"session_id":"s","task_id":"t","all":true})"));
    EXPECT_FALSE(result.is_error);
    EXPECT_THAT(result.texts,
                ElementsAre("2 background processes of session s, 1 running:\n"
                            "- p-1: listening (no CPU for 2 h); pid 42; python3 -m http.server; "
                            "\"docs\"; started 2026-05-18T10:00:00.000Z; does not count as work; "
                            "session s (its session has ended)\n"
                            "- p-1: exited (signal 15 (SIGTERM)); pid 42; make; started "
                            "2026-05-18T10:00:00.000Z; session s"));
    EXPECT_EQ(result.content.at("processes").as_array().size(), 2U);
}

TEST_F(ToolCalls, ListIsOfTheWholeConversation) {
    world.session = "next";
    world.answers(R"({"id":"next","key":"chat:42"})");
    world.answers(std::string(R"({"processes":[)") + server_row + "]}");
    const auto result = call("process_list");
    EXPECT_THAT(world.asked, ElementsAre(R"(session.show {"session_id":"next"})",
                                         R"(process.list {"key":"chat:42"})"));
    EXPECT_THAT(result.texts.at(0),
                HasSubstr("1 background process of the conversation of session next, 1 running"));
    EXPECT_THAT(result.texts.at(0), HasSubstr("session s (its session has ended)"));
}

TEST_F(ToolCalls, ListOfASessionThatIsNotOnRecordIsOfWhatRanInIt) {
    world.session = "s";
    world.refuses(ErrorCode::not_found, "no session s");
    world.answers(R"({"processes":[],"next":""})");
    EXPECT_THAT(call("process_list").texts.at(0),
                HasSubstr("No background processes of session s"));
}

TEST_F(ToolCalls, ListOfAnAgentWithoutASessionIsOfAll) {
    world.answers(R"({"processes":[],"next":""})");
    const auto result = call("process_list");
    EXPECT_THAT(world.asked, ElementsAre("process.list {}"));
    EXPECT_THAT(result.texts.at(0), HasSubstr("No background processes on this machine"));
}

TEST_F(ToolCalls, WhatCouldDeceiveWhoeverReadsItIsShownAsQuestionMarks) {
    constexpr auto row = R"({"process_id":"p-1","session_id":"s","session":"open","pid":42,
        "command":"sh \u202egpj.x","argv":["sh","\u202egpj.x"],"title":"a\u009b2Jb\u2028c",
        "started_at":"2026-05-18T10:00:00.000Z","state":"running","activity":"working"})";
    const auto is_clean = [](const ToolResult& result) {
        const auto all = result.texts.at(0) + wire::to_text(result.content);
        for (const auto* character : {"\xe2\x80\xae", "\xc2\x9b", "\xe2\x80\xa8"}) {
            if (all.contains(character)) return false;
        }
        return all.contains('?');
    };
    world.session = "s";
    world.answers(R"({"id":"s"})");
    world.answers(std::string(R"({"processes":[)") + row + "]}");
    const auto listed = call("process_list");
    EXPECT_THAT(listed.texts.at(0), HasSubstr("sh ?gpj.x; \"a?2Jb?c\""));
    EXPECT_TRUE(is_clean(listed));
    world.answers(row);
    EXPECT_TRUE(is_clean(call("process_vouch", R"({"process_id":"p-1","until":"2h"})")));
    world.refuses(ErrorCode::invalid_params, "argv: there is no program /\xe2\x80\xaex");
    EXPECT_TRUE(is_clean(call("process_start", R"({"argv":["/\u202ex"]})")));
    world.answers(R"({"process_id":"p-1","output":"\u001b[1m","next":4,"state":"exited"})");
    EXPECT_EQ(call("process_output", R"({"process_id":"p-1"})").texts.at(0), "\x1b[1m")
        << "what it wrote is what was asked for";
}

TEST_F(ToolCalls, ListEverywhereDoesNotAskForASession) {
    world.session = "s";
    world.answers(R"({"processes":[],"next":"c"})");
    call("process_list", R"({"everywhere":true})");
    EXPECT_THAT(world.asked, ElementsAre("process.list {}"));
}

TEST_F(ToolCalls, StatusTellsTheSessionAndWhatRuns) {
    world.answers(R"({"id":"s","status":"background","title":"a \"talk\""})");
    world.answers(std::string(R"({"processes":[)") + server_row + R"(],"next":"n7"})");
    const auto result = call("session_status", R"({"session_id":"s"})");
    EXPECT_THAT(world.asked, ElementsAre(R"(session.show {"session_id":"s"})",
                                         R"(process.list {"session_id":"s"})"));
    EXPECT_THAT(result.texts.at(0), HasSubstr("Session s is background (\"a \"talk\"\"). 1 "
                                              "background process of it, 1 running:\n- p-1"));
    EXPECT_THAT(result.texts.at(0), HasSubstr("cursor n7"));
    EXPECT_EQ(result.content.at("session").at("id"), "s");
}

TEST_F(ToolCalls, StartGivesAPlaceAndPath) {
    world.session = "s";
    world.cwd = "/work/project";
    world.path = "/opt/bin:/bin";
    world.answers(server_row);
    call("process_start", R"({"argv":["make","-j"],"cwd":"../other","title":"t"})");
    EXPECT_THAT(world.asked.back(),
                R"(process.start {"session_id":"s","argv":["make","-j"],"title":"t",)"
                R"("cwd":"/work/other","env":{"PATH":"/opt/bin:/bin"}})");

    world.answers(server_row);
    call("process_start", R"({"argv":["x"],"env":{"PATH":"/x","A":"b"},"session_id":"other"})");
    EXPECT_THAT(world.asked.back(),
                R"(process.start {"session_id":"other","argv":["x"],"cwd":"/work/project",)"
                R"("env":{"PATH":"/x","A":"b"}})");
}

TEST_F(ToolCalls, StartWithoutASessionAsksForOne) {
    const auto result = call("process_start", R"({"argv":["make"]})");
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.texts.at(0), HasSubstr("give session_id"));
    EXPECT_TRUE(world.asked.empty());
}

TEST_F(ToolCalls, OutputComesWithWhereToGoOn) {
    world.answers(R"({"process_id":"p-1","output":"hello\n","after":90,"next":96,
        "gap":{"from":0,"to":90},"state":"running","more":false})");
    const auto result = call("process_output", R"({"process_id":"p-1","after":0})");
    EXPECT_THAT(world.asked, ElementsAre(R"(process.output {"limit":16384,"encoding":"text",)"
                                         R"("process_id":"p-1","after":0})"));
    EXPECT_THAT(result.texts,
                ElementsAre("hello\n",
                            "Bytes 0 to 90 are no longer kept. The process is running; "
                            "for what comes next: process_output with after 96."));

    world.answers(R"({"output":"","next":96,"state":"exited","more":false})");
    EXPECT_THAT(call("process_output", R"({"process_id":"p-1"})").texts,
                ElementsAre("No output. The process has exited; this is the end of its output."));
}

TEST_F(ToolCalls, StopWaitsUntilItIsGone) {
    world.answers(with(server_row, R"("stopping":true)"));
    world.answers(with(gone_row, R"("stopping":false)"));
    const auto result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_THAT(world.asked, ElementsAre(R"(process.stop {"process_id":"p-1"})", "wait p-1"));
    EXPECT_FALSE(result.is_error);
    EXPECT_THAT(result.texts.at(0), HasSubstr("stopped: p-1: exited (signal 15 (SIGTERM))"));
    EXPECT_EQ(result.content.at("stopping"), false);
}

TEST_F(ToolCalls, StopOfOneThatStaysIsAnError) {
    world.answers(with(server_row, R"("stopping":true)"));
    world.answers(with(server_row, R"("stopping":true)"));
    auto result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.texts.at(0), HasSubstr("still runs"));
    EXPECT_EQ(result.content.at("stopping"), true);

    world.answers(with(server_row, R"("stopping":true)"));
    world.answers(with(gone_row, R"("stopping":true)"));
    result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.texts.at(0), HasSubstr("is gone, but some of what it started still runs"));
}

TEST_F(ToolCalls, StopOfWhatIsLeftSaysWhy) {
    const auto left =
        R"("stopping":false,"stop_failed":"process 7 (agent): it owns an open session")";
    world.answers(with(server_row, R"("stopping":true)"));
    world.answers(with(server_row, left));
    auto result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.texts.at(0),
                HasSubstr("was not stopped (process 7 (agent): it owns an open session): p-1"));

    world.answers(with(server_row, R"("stopping":true)"));
    world.answers(with(gone_row, left));
    result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.texts.at(0), HasSubstr("is gone, but not all that it started (process 7"));
}

TEST_F(ToolCalls, StopOfOneThatIsGoneSaysSo) {
    world.answers(with(gone_row, R"("already_exited":true,"stopping":false)"));
    const auto result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_FALSE(result.is_error);
    EXPECT_THAT(result.texts.at(0), HasSubstr("had exited already"));
    EXPECT_EQ(result.content.at("already_exited"), true);
    EXPECT_EQ(result.content.at("stopping"), false);
    EXPECT_EQ(world.asked.size(), 1U);
}

TEST_F(ToolCalls, VouchPassesTheTimeOn) {
    world.answers(server_row);
    EXPECT_FALSE(call("process_vouch", R"({"process_id":"p-1","until":"2h"})").is_error);
    EXPECT_THAT(world.asked, ElementsAre(R"(process.vouch {"process_id":"p-1","until":"2h"})"));
}

TEST_F(ToolCalls, ARefusalOfTheDaemonIsAResult) {
    world.refuses(ErrorCode::not_found, "there is no process p-1");
    const auto result = call("process_stop", R"({"process_id":"p-1"})");
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.texts, ElementsAre("there is no process p-1"));
    EXPECT_EQ(result.content.at("error").at("data").at("kind"), "not_found");
}

TEST_F(ToolCalls, WrongArgumentsAreToldByName) {
    const struct {
        const char* tool;
        const char* arguments;
        const char* says;
    } rows[] = {
        {"process_stop", "{}", "process_id: is required"},
        {"process_stop", R"({"process_id":null})", "process_id: is required"},
        {"process_stop", R"({"process_id":7})", "process_id: must be a string"},
        {"process_stop", R"({"process_id":""})", "process_id: must not be empty"},
        {"process_stop", R"({"pid":7})", "takes no argument \"pid\"; it takes: process_id"},
        {"process_start", R"({"argv":"make test"})", "argv: must be an array of strings"},
        {"process_start", R"({"argv":[]})", "argv: must be an array of strings"},
        {"process_start", R"({"argv":["a",1]})", "argv: must be an array of strings"},
        {"process_start", R"({"argv":["a"],"env":{"A":1}})", "env: must be an object of strings"},
        {"process_start", R"({"argv":["a"],"env":["A=1"]})", "env: must be an object of strings"},
        {"process_list", R"({"all":"yes"})", "all: must be true or false"},
        {"process_list", R"({"limit":0})", "limit: must be between 1 and 1000"},
        {"process_list", R"({"limit":1.5})", "limit: must be a whole number"},
        {"process_output", R"({"process_id":"p-1","after":-1})", "after: must be between 0 and"},
    };
    for (const auto& row : rows) {
        const auto result = call(row.tool, row.arguments);
        EXPECT_TRUE(result.is_error) << row.arguments;
        EXPECT_THAT(result.texts.at(0), HasSubstr(row.says)) << row.arguments;
    }
    EXPECT_TRUE(world.asked.empty());
}

}  // namespace
}  // namespace knell::mcp
