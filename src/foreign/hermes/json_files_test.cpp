#include "foreign/hermes/json_files.hpp"

#include <gtest/gtest.h>

namespace knell::hermes {
namespace {

TEST(SessionsJson, IsReadByKeyWithoutWhatIsForPeople) {
    const auto entries = parse_sessions_json(
        R"({"_README": "do not edit",
            "agent:main:telegram:dm:1": {"session_id": "a", "expiry_finalized": true},
            "agent:main:telegram:dm:2": {"session_id": "b", "memory_flushed": true},
            "agent:main:telegram:dm:3": {"session_id": "c", "suspended": true}})",
        "sessions.json");

    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 3U);
    EXPECT_EQ(entries->at(0).key, "agent:main:telegram:dm:1");
    EXPECT_TRUE(entries->at(0).finalized);
    EXPECT_TRUE(entries->at(1).finalized);
    EXPECT_FALSE(entries->at(2).finalized);
    EXPECT_TRUE(entries->at(2).suspended);
}

TEST(ProcessesJson, IsReadWithAndWithoutStartTimes) {
    const auto entries = parse_processes_json(
        R"([{"session_id": "proc_1", "command": "python3 -m http.server", "pid": 552,
             "pid_scope": "host", "host_start_time": 4711, "started_at": 1779105600.25,
             "session_key": "k", "parent_session_id": "p"},
            {"session_id": "proc_2", "command": "sh", "pid": 3, "pid_scope": "sandbox"},
            {"session_id": "proc_3"}, 7])",
        "processes.json");

    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 2U);
    const auto& first = entries->front();
    EXPECT_EQ(first.start_ticks, 4711U);
    EXPECT_EQ(to_millis(*first.started_at), 1'779'105'600'250);
    EXPECT_EQ(first.session_key, "k");
    EXPECT_EQ(first.parent_session_id, "p");
    EXPECT_TRUE(first.is_on_host);
    EXPECT_FALSE(entries->back().is_on_host);
    EXPECT_FALSE(entries->back().start_ticks);
}

TEST(ActiveSessions, NameTheProcessOfEach) {
    const auto entries = parse_active_sessions(
        R"({"entries": [{"lease_id": "l", "session_id": "a", "pid": 7,
                         "process_start_time": 1779105600.5}, {"session_id": "b"}]})",
        "active_sessions.json");

    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 1U);
    EXPECT_EQ(entries->front().session_id, "a");
    EXPECT_EQ(entries->front().pid, 7);
    EXPECT_EQ(entries->front().started, 1779105600.5);
}

TEST(GatewayPid, IsARecordOrANumber) {
    const auto record = parse_gateway_pid(R"({"pid": 17, "start_time": 99})", "gateway.pid");
    const auto number = parse_gateway_pid("17\n", "gateway.pid");

    ASSERT_TRUE(record);
    EXPECT_EQ(record->front().pid, 17);
    EXPECT_EQ(record->front().started, 99);
    ASSERT_TRUE(number);
    EXPECT_EQ(number->front().pid, 17);
    EXPECT_FALSE(number->front().started);
}

TEST(HermesJson, ThatIsNoneNamesItsFile) {
    for (const auto* text : {"", "{", "[1", "null", "\"a\""}) {
        for (auto parse : {parse_sessions_json}) {
            const auto parsed = parse(text, "/h/sessions.json");
            ASSERT_FALSE(parsed) << text;
            EXPECT_NE(parsed.error().message.find("/h/sessions.json"), std::string::npos);
        }
        EXPECT_FALSE(parse_processes_json(text, "p")) << text;
        EXPECT_FALSE(parse_active_sessions(text, "p")) << text;
        EXPECT_FALSE(parse_gateway_pid(text, "p")) << text;
    }
    EXPECT_FALSE(parse_active_sessions("{}", "p"));
    EXPECT_FALSE(parse_gateway_pid("-3", "p"));
}

}  // namespace
}  // namespace knell::hermes
