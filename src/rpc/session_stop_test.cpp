// session.stop and session.adopt, without processes: who may be stopped, and who may be adopted.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

using ::testing::HasSubstr;

class StopSession : public ::testing::Test {
  protected:
    JsonObject call(std::string_view method, std::string_view params) {
        const auto line = backend_.answer(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params));
        const auto answer = wire::parse_json(line);
        EXPECT_TRUE(answer) << line;
        const auto& object = answer->get_object();
        const auto* part = object.if_contains("result");
        return (part != nullptr ? *part : object.at("error")).get_object();
    }
    /// A session of a process that runs.
    void own(std::string_view id, pid_t pid) {
        backend_.fake_processes().start(pid, 7);
        backend_.fake_processes().set_knell(pid, false);
        call("session.create", fmt::format(R"({{"id":"{}","source":"cli","owner":{{"pid":{},)"
                                           R"("command":"claude"}}}})",
                                           id, pid));
    }
    static std::string message(const JsonObject& error) {
        return std::string(wire::text_at(error, "message"));
    }

    testing::InProcessBackend backend_;
};

TEST_F(StopSession, AKnellIsNotStopped) {
    own("s", 200);
    backend_.fake_processes().set_knell(200, true);

    EXPECT_THAT(message(call("session.stop", R"({"session_id":"s"})")),
                HasSubstr("is a knell itself"));
}

TEST_F(StopSession, ALeaseEndsOnRecord) {
    call("session.create", R"({"id":"s","source":"cli","owner":{"lease_ttl_s":45}})");

    const auto stopped = call("session.stop", R"({"session_id":"s","detail":"knell stop"})");

    EXPECT_FALSE(stopped.contains("process"));
    EXPECT_EQ(wire::text_at(stopped, "reason"), "completed");
    EXPECT_EQ(wire::text_at(call("session.show", R"({"session_id":"s"})"), "detail"), "knell stop");
    EXPECT_TRUE(wire::bool_at(call("session.stop", R"({"session_id":"s"})"), "already_ended"));
}

TEST_F(StopSession, AnotherGenerationIsFenced) {
    own("s", 200);

    const auto error = call("session.stop", R"({"session_id":"s","generation":2})");

    EXPECT_THAT(message(error), HasSubstr("is at generation 1, not 2"));
}

TEST_F(StopSession, WhatIsNotThereIsNotFound) {
    EXPECT_THAT(message(call("session.stop", R"({"session_id":"s"})")), HasSubstr("no session s"));
}

TEST_F(StopSession, AnAdoptedOneHasTheCommandAndDirectoryOfItsProcess) {
    backend_.fake_processes().start(300, 7);
    backend_.fake_processes().set_knell(300, false);
    backend_.fake_processes().set_look(300, {.uid = 1000, .argv = {"vim", "a b"}, .cwd = "/srv"});

    const auto opened = call("session.adopt", R"({"pid":300,"id":"s"})");

    EXPECT_EQ(wire::text_at(opened, "session_id"), "s");
    const auto session = call("session.show", R"({"session_id":"s"})");
    EXPECT_EQ(wire::text_at(session, "title"), "vim a b");
    EXPECT_EQ(wire::text_at(session, "cwd"), "/srv");
    EXPECT_EQ(wire::text_at(session, "source"), "cli");
    EXPECT_EQ(wire::int_at(session.at("owner").get_object(), "pid"), 300);
}

TEST_F(StopSession, NobodyAdoptsAKernelThreadOrAnothersProcessOrOneThatKeepsASession) {
    const auto refused = [&] { return message(call("session.adopt", R"({"pid":300})")); };
    auto& processes = backend_.fake_processes();
    processes.start(300, 7);
    EXPECT_THAT(refused(), HasSubstr("cannot be looked at"));
    processes.set_look(300, {.uid = 1000, .argv = {"vim"}, .cwd = {}});
    EXPECT_THAT(refused(), HasSubstr("is a process of knell"));
    processes.set_knell(300, false);
    processes.set_look(300, {.uid = 1000, .argv = {}, .cwd = {}});
    EXPECT_THAT(refused(), HasSubstr("is a thread of the kernel"));
    processes.set_look(300, {.uid = 4321, .argv = {"vim"}, .cwd = {}});
    EXPECT_THAT(refused(), HasSubstr("belongs to user 4321"));
    processes.set_look(300, {.uid = 1000, .argv = {"vim"}, .cwd = {}});
    backend_.watched.insert(300);
    EXPECT_THAT(refused(), HasSubstr("owns a session of its own"));
}

}  // namespace
}  // namespace knell::rpc
