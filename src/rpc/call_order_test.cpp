// The order of changes on one connection, while some of them look at processes first.

#include "rpc/call_order.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ConnectionId one{1};
constexpr ConnectionId other{2};

class CallOrderTest : public ::testing::Test {
  protected:
    CallOrder::Work note(int what) {
        return [this, what] { done_.push_back(what); };
    }
    CallOrder order_;
    std::vector<int> done_;
};

TEST_F(CallOrderTest, WhoWaitsForNothingIsNotQueued) {
    EXPECT_FALSE(order_.must_queue(one));
    order_.leave({one, 7});
    order_.wait({one, 1});
    EXPECT_TRUE(order_.must_queue(one));
    EXPECT_FALSE(order_.must_queue(other));
    order_.go_on({one, 1}, note(1));
    EXPECT_THAT(done_, ElementsAre(1));
    EXPECT_TRUE(order_.is_empty());
}

TEST_F(CallOrderTest, WorkIsDoneInTheOrderOfItsPlaces) {
    order_.wait({one, 1});
    order_.queue({one, 2}, note(2));
    order_.wait({one, 3});
    order_.queue({one, 4}, note(4));

    order_.go_on({one, 3}, note(3));
    EXPECT_THAT(done_, IsEmpty()) << "it looked at once, and waits for its turn";
    order_.go_on({one, 1}, note(1));

    EXPECT_THAT(done_, ElementsAre(1, 2, 3, 4));
    EXPECT_TRUE(order_.is_empty());
}

TEST_F(CallOrderTest, OneThatIsAnsweredWithoutGoingOnLetsTheOthersPass) {
    order_.wait({one, 1});
    order_.queue({one, 2}, note(2));
    order_.wait({one, 3});
    order_.leave({one, 3});
    EXPECT_THAT(done_, IsEmpty());
    order_.leave({one, 1});
    EXPECT_THAT(done_, ElementsAre(2));
    EXPECT_TRUE(order_.is_empty());
}

TEST_F(CallOrderTest, WorkMayComeBack) {
    order_.wait({one, 1});
    order_.queue({one, 2}, [this] {
        done_.push_back(2);
        order_.leave({one, 2});
        order_.wait({one, 2});  // it has to look after all
    });
    order_.queue({one, 3}, note(3));
    order_.go_on({one, 1}, note(1));
    EXPECT_THAT(done_, ElementsAre(1, 2, 3));
    EXPECT_TRUE(order_.must_queue(one));
    order_.go_on({one, 2}, note(4));
    EXPECT_THAT(done_, ElementsAre(1, 2, 3, 4));
    EXPECT_TRUE(order_.is_empty());
}

/// Calls on connections, through the dispatcher, with looks that take until they are done.
class OrderOfCalls : public ::testing::Test {
  protected:
    void call(ConnectionId connection, int id, std::string_view method, std::string_view params) {
        auto caller = backend_.caller();
        caller.connection = connection;
        backend_.dispatcher().handle(
            fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                        params),
            caller, [this, id](const std::optional<wire::Answer>& answer) {
                answered_.push_back(id);
                if (!answer->result) errors_[id] = answer->result.error().message;
            });
    }
    void open(std::string_view session) {
        call(other, 0, "session.create", fmt::format(R"({{"id":"{}","source":"cli"}})", session));
        answered_.clear();
        backend_.holds_looks = true;
    }

    testing::InProcessBackend backend_;
    std::vector<int> answered_;
    std::map<int, std::string> errors_;
};

constexpr auto append_to_a =
    R"({"session_id":"a","generation":1,"messages":[{"role":"user","content":"hi"}]})";

TEST_F(OrderOfCalls, ChangesBehindACloseAreDecidedAfterIt) {
    open("a");
    call(one, 1, "session.close", R"({"session_id":"a"})");
    call(one, 2, "session.append", append_to_a);
    call(one, 3, "turn.start", R"({"session_id":"a","generation":1})");
    call(one, 4, "session.create", R"({"id":"b","source":"cli"})");
    EXPECT_THAT(answered_, IsEmpty());

    backend_.do_look();

    EXPECT_THAT(answered_, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(errors_[2], HasSubstr("ended"));
    EXPECT_THAT(errors_[3], HasSubstr("ended"));
    EXPECT_EQ(errors_.size(), 2U);
}

TEST_F(OrderOfCalls, ChangesBehindAResumeAreDecidedAfterIt) {
    open("a");
    call(one, 1, "session.resume", R"({"session_id":"a","takeover":true})");
    call(one, 2, "session.append",
         R"({"session_id":"a","generation":2,"messages":[{"role":"user","content":"hi"}]})");
    EXPECT_THAT(answered_, IsEmpty());

    backend_.do_look();

    EXPECT_THAT(answered_, ElementsAre(1, 2));
    EXPECT_THAT(errors_, IsEmpty());
}

TEST_F(OrderOfCalls, ChangesBehindASearchForLeftoversAreDecidedAfterIt) {
    open("a");
    call(one, 1, "session.close", R"({"session_id":"a","find_leftovers":true})");
    call(one, 2, "session.append", append_to_a);
    EXPECT_THAT(answered_, IsEmpty());

    backend_.do_look();

    EXPECT_THAT(answered_, ElementsAre(1, 2));
    EXPECT_THAT(errors_[2], HasSubstr("ended"));
}

TEST_F(OrderOfCalls, LooksAreMadeTogetherAndTheirChangesInOrder) {
    open("a");
    call(one, 1, "session.close", R"({"session_id":"a"})");
    call(one, 2, "session.pin", R"({"session_id":"a"})");
    call(one, 3, "session.resume", R"({"session_id":"a"})");
    call(one, 4, "session.unpin", R"({"session_id":"a"})");
    backend_.do_look();
    EXPECT_THAT(answered_, ElementsAre(1, 2));
    backend_.do_look();
    EXPECT_THAT(answered_, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(errors_, IsEmpty());
}

TEST_F(OrderOfCalls, OtherConnectionsReadsAndSignsOfLifeDoNotWait) {
    open("a");
    call(one, 1, "session.close", R"({"session_id":"a"})");

    call(other, 2, "session.append", append_to_a);
    call(one, 3, "session.show", R"({"session_id":"a"})");
    call(one, 4, "session.heartbeat", R"({"session_id":"a","generation":1})");

    EXPECT_THAT(answered_, ElementsAre(2, 3, 4));
    EXPECT_THAT(errors_, IsEmpty());
    backend_.do_look();
    EXPECT_THAT(answered_, ElementsAre(2, 3, 4, 1));
}

TEST_F(OrderOfCalls, ARefusedCloseLetsTheOthersPass) {
    open("a");
    call(one, 1, "session.close", R"({"session_id":"a","reason":"reaped"})");
    call(one, 2, "session.append", append_to_a);
    backend_.do_look();
    EXPECT_THAT(answered_, ElementsAre(1, 2));
    EXPECT_EQ(errors_.count(2), 0U);
}

TEST_F(OrderOfCalls, WhatWasAskedForIsDoneAlsoForAConnectionThatIsGone) {
    open("a");
    call(one, 1, "session.close", R"({"session_id":"a"})");
    call(one, 2, "session.title", R"({"session_id":"a","title":"t"})");
    backend_.dispatcher().hung_up(one);
    backend_.do_look();
    EXPECT_EQ((*backend_.reader().find(SessionId("a")))->title, "t");
}

}  // namespace
}  // namespace knell::rpc
