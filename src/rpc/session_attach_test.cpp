// session.attach, session.detach and what becomes of them when a connection goes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "rpc/feeds.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/silent_stream.hpp"

namespace knell::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A client with a connection of its own.
struct Client {
    explicit Client(std::uint64_t number, const testing::InProcessBackend& backend)
        : caller(backend.caller()) {
        caller.connection = ConnectionId{number};
    }
    Caller caller;
    testing::SilentStream stream;
};

class SessionAttach : public ::testing::Test {
  protected:
    SessionAttach() {
        call(one_, "session.create",
             R"({"id":"a","source":"web",)"
             R"("owner":{"kind":"hosted"}})");
    }

    std::string call(Client& client, std::string_view method, std::string_view params) {
        std::string answer;
        send(client, method, params, answer);
        return answer;
    }
    void send(Client& client, std::string_view method, std::string_view params,
              std::string& answer) {
        backend_.dispatcher().handle(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params),
            client.caller,
            [&answer](const std::optional<wire::Answer>& given) {
                answer = wire::answer_line(*given);
            },
            &client.stream);
    }
    std::string attach(Client& client, std::string_view params = R"({"session_id":"a"})") {
        return call(client, "session.attach", params);
    }
    std::string detach(Client& client) {
        return call(client, "session.detach", R"({"session_id":"a"})");
    }
    void hang_up(Client& client) {
        backend_.dispatcher().hung_up(client.caller.connection);
        client.stream.feeds().clear();
    }
    Session row() { return **backend_.reader().find(SessionId("a")); }
    void refuse_next() { backend_.refusals.push_back({ErrorCode::storage, "disk full", {}, {}}); }

    testing::InProcessBackend backend_;
    Client one_{1, backend_};
    Client two_{2, backend_};
};

TEST_F(SessionAttach, SaysWhoElseIsThereAndTellsWhatHappens) {
    EXPECT_THAT(attach(one_), HasSubstr(R"("status":"attached","attached":1,"others":[])"));
    EXPECT_THAT(attach(two_), HasSubstr(R"x("others":["process 100 (uid 1000)"])x"));
    EXPECT_EQ(row().attached, 2);
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 2U);

    call(one_, "turn.start", R"({"session_id":"a","generation":1})");
    call(one_, "session.create", R"({"id":"b","source":"web","owner":{"kind":"hosted"}})");

    for (const auto* client : {&one_, &two_}) {
        EXPECT_THAT(client->stream.sent, HasSubstr("agent:start"));
        EXPECT_THAT(client->stream.sent, Not(HasSubstr(R"("session_id":"b")")));
    }
}

TEST_F(SessionAttach, EveryCallThatNamesASessionKeepsIt) {
    for (const auto& [method, params] :
         {std::pair{"session.show", R"({"session_id":"a"})"},
          std::pair{"session.why", R"({"session_id":"a"})"},
          std::pair{"session.active_list", R"({"current_session_id":"a"})"},
          std::pair{"events.read", R"({"session_id":"a"})"},
          std::pair{"events.subscribe", R"({"session_id":"a"})"}}) {
        backend_.named.clear();
        call(one_, method, params);
        EXPECT_THAT(backend_.named, ElementsAre(SessionId("a"))) << method;
    }
}

TEST_F(SessionAttach, ReplaysWhatHappenedAfterAnEvent) {
    call(two_, "turn.start", R"({"session_id":"a","generation":1})");

    EXPECT_THAT(attach(one_, R"({"session_id":"a","after":0})"), HasSubstr(R"("after":0)"));

    EXPECT_THAT(one_.stream.sent, HasSubstr("session:start"));
    EXPECT_THAT(one_.stream.sent, HasSubstr("agent:start"));
}

TEST_F(SessionAttach, AttachedAgainItBeginsElsewhere) {
    attach(one_);
    EXPECT_THAT(attach(one_, R"({"session_id":"a","after":0})"), HasSubstr(R"("attached":1)"));
    EXPECT_EQ(backend_.feeds().size(), 1U);
    EXPECT_THAT(one_.stream.sent, HasSubstr("session:start"));
}

TEST_F(SessionAttach, ADisconnectDropsTheAttachmentAndNothingElse) {
    attach(one_);
    call(one_, "turn.start", R"({"session_id":"a","generation":1})");

    hang_up(one_);

    EXPECT_EQ(row().attached, 0);
    EXPECT_TRUE(row().turn_since);
    EXPECT_EQ(backend_.feeds().size(), 0U);
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 0U);
    hang_up(one_);
}

TEST_F(SessionAttach, WhoDetachesHearsNoMore) {
    attach(one_);
    EXPECT_THAT(detach(one_), HasSubstr(R"("attached":0,"changed":true)"));
    one_.stream.sent.clear();

    call(two_, "turn.start", R"({"session_id":"a","generation":1})");

    EXPECT_EQ(one_.stream.sent, "");
    EXPECT_EQ(backend_.feeds().size(), 0U);
    EXPECT_THAT(detach(one_), HasSubstr(R"("changed":false)"));
}

TEST_F(SessionAttach, WhatTheStoreRefusedLeavesItAsItWas) {
    refuse_next();
    EXPECT_THAT(attach(one_), HasSubstr("disk full"));
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 0U);

    attach(one_);
    refuse_next();
    EXPECT_THAT(detach(one_), HasSubstr("disk full"));
    refuse_next();
    EXPECT_THAT(attach(one_), HasSubstr("disk full"));
    EXPECT_EQ(row().attached, 1);
    hang_up(one_);
    EXPECT_EQ(row().attached, 0) << "the client went, and nobody knew";
}

TEST_F(SessionAttach, WhoCannotBeToldAnythingIsNotAttached) {
    EXPECT_THAT(attach(one_, R"({"session_id":"a","after":99})"), HasSubstr(R"("field":"after")"));
    EXPECT_EQ(row().attached, 0);
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 0U);

    EXPECT_THAT(backend_.answer(R"({"jsonrpc":"2.0","id":1,"method":"session.attach",)"
                                R"("params":{"session_id":"a"}})",
                                one_.caller),
                HasSubstr("stays open"));
}

TEST_F(SessionAttach, AnEndIsToldAndLetsGo) {
    attach(one_);
    call(two_, "session.close", R"({"session_id":"a"})");

    EXPECT_THAT(one_.stream.sent, HasSubstr("session:end"));
    EXPECT_EQ(backend_.feeds().size(), 0U);
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 0U);
    EXPECT_THAT(attach(one_), HasSubstr("resume it to attach to it"));
    call(two_, "session.resume", R"({"session_id":"a","owner":{"kind":"hosted"}})");
    EXPECT_THAT(attach(one_), HasSubstr(R"("generation":2)"));
}

TEST_F(SessionAttach, ATakeoverKeepsWhoLooksAtIt) {
    attach(one_);
    call(two_, "session.resume", R"({"session_id":"a","takeover":true})");

    EXPECT_EQ(row().attached, 1);
    call(two_, "turn.start", R"({"session_id":"a","generation":2})");
    EXPECT_THAT(one_.stream.sent, HasSubstr("agent:start"));
    call(two_, "session.close", R"({"session_id":"a"})");
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 0U);
}

TEST_F(SessionAttach, BehindACallThatLooksAtProcessesItIsAttachedAllTheSame) {
    backend_.holds_looks = true;
    std::string closed;
    std::string attached;
    std::string detached;
    std::string again;
    send(one_, "session.close", R"({"session_id":"never"})", closed);
    send(one_, "session.attach", R"({"session_id":"a"})", attached);
    send(one_, "session.detach", R"({"session_id":"a"})", detached);
    send(one_, "session.attach", R"({"session_id":"a"})", again);
    EXPECT_EQ(attached, "");

    backend_.do_look();

    EXPECT_THAT(attached, HasSubstr(R"("attached":1)"));
    EXPECT_THAT(detached, HasSubstr(R"("changed":true)"));
    EXPECT_THAT(again, HasSubstr(R"("attached":1)"));
    EXPECT_EQ(backend_.feeds().size(), 1U);
}

TEST_F(SessionAttach, WhoHungUpMeanwhileIsNotAttached) {
    backend_.holds_looks = true;
    std::string closed;
    std::string attached;
    send(one_, "session.close", R"({"session_id":"never"})", closed);
    send(one_, "session.attach", R"({"session_id":"a"})", attached);
    hang_up(one_);

    backend_.do_look();

    EXPECT_EQ(row().attached, 0);
    EXPECT_EQ(backend_.dispatcher().attachment_count(), 0U);
}

TEST_F(SessionAttach, AConnectionLooksAtABoundedNumberOfSessions) {
    for (std::size_t i = 0; i <= limits::attachments_per_client_max; ++i) {
        call(two_, "session.create",
             fmt::format(R"({{"id":"s{}","source":"web","owner":{{"kind":"hosted"}}}})", i));
        const auto answer = attach(one_, fmt::format(R"({{"session_id":"s{}"}})", i));
        const bool fits = i < limits::attachments_per_client_max;
        EXPECT_THAT(answer, HasSubstr(fits ? R"("attached":1)" : "64 sessions already"));
    }
    EXPECT_THAT(attach(one_, R"({"session_id":"s0"})"), HasSubstr(R"("attached":1)"));
}

TEST_F(SessionAttach, ATurnIsHeldByWhoBeganIt) {
    call(one_, "turn.start", R"({"session_id":"a","generation":1})");
    backend_.pass(48h);
    EXPECT_EQ(status_of(row()), Status::running);
    hang_up(one_);
    backend_.pass(7h);
    EXPECT_EQ(status_of(row()), Status::stalled);
    backend_.pass(11min);
    EXPECT_EQ(row().end->reason, Reason::detached_expiry);
}

TEST_F(SessionAttach, ATurnThatCouldNotBeEndedIsStillHeld) {
    call(one_, "turn.start", R"({"session_id":"a","generation":1})");
    refuse_next();
    call(one_, "turn.end", R"({"session_id":"a","generation":1})");
    backend_.pass(48h);
    EXPECT_EQ(status_of(row()), Status::running);
    hang_up(one_);
    backend_.pass(7h);
    EXPECT_EQ(status_of(row()), Status::stalled);
}

TEST_F(SessionAttach, AReadThatNamesItKeepsIt) {
    for (int i = 0; i < 3; ++i) {
        backend_.pass(9min);
        call(one_, "session.show", R"({"session_id":"a"})");
    }
    EXPECT_FALSE(row().end);
    EXPECT_THAT(call(one_, "session.why", R"({"session_id":"a"})"),
                HasSubstr("no client looks at it, no turn is on"));
    backend_.pass(11min);
    EXPECT_TRUE(row().end);
}

TEST_F(SessionAttach, WhatIsLiveLeavesOutWhoIsIdleAndAlone) {
    EXPECT_THAT(call(one_, "session.active_list", "{}"), HasSubstr(R"("id":"a")"));
    backend_.pass(31s);
    EXPECT_THAT(call(one_, "session.active_list", "{}"), Not(HasSubstr(R"("id":"a")")));
    EXPECT_THAT(call(one_, "session.active_list", R"({"current_session_id":"a"})"),
                HasSubstr(R"("id":"a")"));
    attach(one_);
    EXPECT_THAT(call(one_, "session.active_list", "{}"), HasSubstr(R"("status":"attached")"));
    EXPECT_THAT(call(one_, "session.why", R"({"session_id":"a"})"),
                HasSubstr("1 clients look at it"));
}

TEST_F(SessionAttach, AHostedOwnerHasNoProcess) {
    for (const auto* field : {"pid", "lease_ttl_s", "pid_namespace", "host"}) {
        const auto value = std::string_view(field) == "host" ? R"("h")" : "100";
        EXPECT_THAT(call(one_, "session.create",
                         fmt::format(R"({{"source":"web","owner":{{"kind":"hosted","{}":{}}}}})",
                                     field, value)),
                    HasSubstr(fmt::format(R"("field":"owner.{}")", field)));
    }
    EXPECT_THAT(call(one_, "session.create", R"({"id":"a","source":"web"})"),
                HasSubstr("owned by the daemon itself"));
    Client web(9, backend_);
    web.caller.who = HttpClient{"127.0.0.1:1", Access::full};
    EXPECT_THAT(call(web, "session.create", R"({"id":"w","source":"web"})"),
                HasSubstr(R"("status":"detached")"));
}

}  // namespace
}  // namespace knell::rpc
