// What a transport gets back for a call; methods_test has what the methods do.

#include "rpc/dispatcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class DispatcherTest : public ::testing::Test {
  protected:
    Dispatcher::Reply reply() {
        return [this](std::optional<wire::Answer> answer) {
            answer_ = std::move(answer);
            ++answers_;
        };
    }
    void handle(std::string_view text) {
        backend_.dispatcher().handle(text, backend_.caller(), reply());
    }

    testing::InProcessBackend backend_;
    std::optional<wire::Answer> answer_;
    int answers_ = 0;
};

TEST_F(DispatcherTest, AResultIsTextUnderTheIdOfItsCall) {
    handle(R"({"jsonrpc":"2.0","id":"a\"b","method":"session.list"})");

    ASSERT_TRUE(answer_);
    EXPECT_EQ(answer_->id, R"("a\"b")");
    EXPECT_EQ(answer_->result, R"({"sessions":[],"folded":0})");
    EXPECT_EQ(wire::answer_line(*answer_),
              R"({"jsonrpc":"2.0","id":"a\"b","result":{"sessions":[],"folded":0}})"
              "\n");
    EXPECT_EQ(wire::result_line_bytes(*answer_), wire::answer_line(*answer_).size());
}

TEST_F(DispatcherTest, ARefusalIsAnErrorAndNotText) {
    handle(R"({"jsonrpc":"2.0","id":7,"method":"session.show","params":{"session_id":"x"}})");

    ASSERT_TRUE(answer_);
    EXPECT_EQ(answer_->id, "7");
    ASSERT_FALSE(answer_->result);
    EXPECT_EQ(answer_->result.error().code, ErrorCode::not_found);
    EXPECT_THAT(wire::answer_line(*answer_), StartsWith(R"({"jsonrpc":"2.0","id":7,"error":{)"));
}

TEST_F(DispatcherTest, WhatCannotBeReadIsAnErrorUnderTheIdThatCould) {
    handle("{");
    EXPECT_EQ(answer_->id, "null");
    EXPECT_FALSE(answer_->result);
    handle(R"({"id":3,"method":"session.list"})");
    EXPECT_EQ(answer_->id, "3");
    EXPECT_EQ(answer_->result.error().code, ErrorCode::invalid_request);
    handle(R"({"jsonrpc":"2.0","id":4,"method":"session.dance"})");
    EXPECT_EQ(answer_->id, "4");
    EXPECT_EQ(answer_->result.error().code, ErrorCode::method_not_found);
    EXPECT_EQ(answers_, 3);
}

TEST_F(DispatcherTest, ANotificationIsDoneAndAnsweredWithNothing) {
    handle(R"({"jsonrpc":"2.0","method":"session.create","params":{"id":"x","source":"cli"}})");

    EXPECT_EQ(answers_, 1);
    EXPECT_FALSE(answer_);
    EXPECT_TRUE(*backend_.reader().find(SessionId("x")));
}

TEST_F(DispatcherTest, ACallMayComeWithoutAText) {
    backend_.dispatcher().run({.id = 1, .method = "session.list"}, backend_.caller(), reply());

    EXPECT_EQ(answer_->result, R"({"sessions":[],"folded":0})");
}

TEST_F(DispatcherTest, ARefusedCallIsNotDone) {
    const Error why{ErrorCode::limit, "later", {}, {}};
    Dispatcher::refuse(R"({"jsonrpc":"2.0","id":1,"method":"node.stop"})", why, reply());
    EXPECT_EQ(answer_->result.error().message, "later");
    Dispatcher::refuse(R"({"jsonrpc":"2.0","method":"node.stop"})", why, reply());
    EXPECT_FALSE(answer_) << "nobody waits for it";
    Dispatcher::refuse("{", why, reply());
    EXPECT_EQ(answer_->id, "null");
    EXPECT_NE(answer_->result.error().message, "later");
    EXPECT_EQ(answers_, 3);
}

TEST_F(DispatcherTest, ATokenAllowsWhatTheMethodNeeds) {
    const auto call = [this](std::string_view method, Access access) {
        backend_.dispatcher().run({.id = 1, .method = std::string(method)},
                                  {HttpClient{.address = "127.0.0.1:9", .access = access}},
                                  reply());
        return answer_->result ? "" : answer_->result.error().message;
    };
    EXPECT_EQ(call("session.list", Access::read_only), "");
    EXPECT_THAT(call("session.create", Access::read_only), HasSubstr("this token may only read"));
    EXPECT_EQ(answer_->result.error().code, ErrorCode::unauthorized);
    EXPECT_THAT(call("session.create", Access::full), HasSubstr("source: is required"));
    EXPECT_THAT(call("hooks.pause", Access::read_only), HasSubstr("this token may only read"));
    EXPECT_THAT(call("hooks.pause", Access::full), HasSubstr("allow_processes"));
    EXPECT_THAT(call("hooks.pause", Access::processes), HasSubstr("name: is required"));
}

/// Named here, so that no method is open to a read-only token, or starts programs, by accident.
TEST(MethodAccess, IsKnownOfEach) {
    std::vector<std::string_view> reading;
    std::vector<std::string_view> starting;
    for (const auto& method : methods()) {
        if (method.access == Access::read_only) reading.push_back(method.name);
        if (method.access == Access::processes) starting.push_back(method.name);
    }
    EXPECT_THAT(reading,
                UnorderedElementsAre("session.why", "session.list", "session.show", "session.find",
                                     "session.short_ids", "session.search", "session.active_list",
                                     "process.list", "process.show", "events.read",
                                     "events.subscribe", "hooks.list", "hooks.letters",
                                     "config.check", "node.status", "node.stats", "node.metrics",
                                     "space.activity", "rpc.describe", "rpc.openapi"));
    EXPECT_THAT(starting,
                UnorderedElementsAre("session.stop", "process.start", "process.register",
                                     "process.stop", "process.vouch", "hooks.test", "hooks.retry",
                                     "hooks.pause", "hooks.resume", "hooks.forget"));
}

TEST_F(DispatcherTest, AnAnswerIsAsLongAsItsBoundAndNoLonger) {
    const auto ask = [this] { handle(R"({"jsonrpc":"2.0","id":1,"method":"hooks.list"})"); };
    backend_.report_trouble(0);
    ask();
    const auto rest = limits::answer_bytes_max - wire::result_line_bytes(*answer_);
    backend_.report_trouble(rest - 100);
    ask();
    // A text that is there is told with its name: how long that is, the first answers say.
    const auto left = limits::answer_bytes_max - wire::result_line_bytes(*answer_);
    backend_.report_trouble(rest - 100 + left);
    ask();
    ASSERT_TRUE(answer_->result);
    EXPECT_EQ(wire::result_line_bytes(*answer_), limits::answer_bytes_max);
    backend_.report_trouble(rest - 100 + left + 1);
    ask();
    ASSERT_FALSE(answer_->result);
    EXPECT_THAT(answer_->result.error().message, HasSubstr("is 7340033 bytes long"));
}

}  // namespace
}  // namespace knell::rpc
