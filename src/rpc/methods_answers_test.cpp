// What each method answers, field by field, and what it takes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "testing/commands.hpp"
#include "testing/in_process_backend.hpp"

namespace knell::rpc {
namespace {

class Answers : public ::testing::Test {
  protected:
    /// The result, or the error, of one call.
    JsonObject call(std::string_view method, std::string_view params = "{}") {
        const auto line = backend_.answer(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params));
        const auto answer = wire::parse_json(line);
        EXPECT_TRUE(answer) << line;
        const auto& object = answer->get_object();
        const auto* part = object.if_contains("result");
        return (part != nullptr ? *part : object.at("error")).get_object();
    }
    std::string text(std::string_view method, std::string_view params = "{}") {
        return wire::to_text(call(method, params));
    }

    testing::InProcessBackend backend_;
};

TEST_F(Answers, OfWhatChangesASession) {
    EXPECT_EQ(text("session.create", R"({"id":"a","source":"cli"})"),
              R"({"session_id":"a","generation":1,"status":"idle"})");
    EXPECT_EQ(text("session.append", R"({"session_id":"a","generation":1,"messages":[)"
                                     R"({"role":"user","content":"x","tokens":3},)"
                                     R"({"role":"assistant","content":"y","tokens":5}]})"),
              R"({"session_id":"a","generation":1,"message_count":2,)"
              R"("input_tokens":3,"output_tokens":5})");
    EXPECT_EQ(text("turn.start", R"({"session_id":"a","generation":1})"),
              R"({"session_id":"a","generation":1,"status":"running","changed":true})");
    EXPECT_EQ(text("turn.start", R"({"session_id":"a","generation":1})"),
              R"({"session_id":"a","generation":1,"status":"running","changed":false})");
    EXPECT_EQ(text("turn.end", R"({"session_id":"a","generation":1})"),
              R"({"session_id":"a","generation":1,"status":"idle","changed":true})");
    const auto closed = call("session.close", R"({"session_id":"a"})");
    EXPECT_EQ(closed.at("status").as_string(), "ended");
    EXPECT_EQ(closed.at("reason").as_string(), "completed");
    EXPECT_EQ(closed.at("already_ended").as_bool(), false);
    EXPECT_FALSE(closed.at("ended_at").as_string().empty());
    EXPECT_FALSE(closed.contains("leftovers"));
    EXPECT_EQ(call("session.close", R"({"session_id":"a"})").at("already_ended").as_bool(), true);
}

TEST_F(Answers, ALeaseIsRenewedThreeTimesInItsTimeAndOnceASecondAtMost) {
    for (const auto& [ttl, every] : {std::pair{5, 1}, {6, 2}, {45, 15}, {46, 15}}) {
        const auto opened =
            call("session.create",
                 fmt::format(R"({{"source":"cli","owner":{{"lease_ttl_s":{}}}}})", ttl));
        EXPECT_EQ(opened.at("renew_every_s").as_int64(), every) << ttl;
    }
    EXPECT_FALSE(call("session.create", R"({"source":"cli"})").contains("renew_every_s"));
}

TEST_F(Answers, MessagesComeOnlyWhenAskedForAndInPages) {
    call("session.create", R"({"id":"a","source":"cli"})");
    call("session.append",
         R"({"session_id":"a","generation":1,"messages":[{"role":"user","content":"one"},)"
         R"({"role":"user","content":"two"},{"role":"user","content":"three"}]})");
    EXPECT_FALSE(call("session.show", R"({"session_id":"a"})").contains("messages"));
    const auto newest = call("session.show", R"({"session_id":"a","messages":2})");
    ASSERT_EQ(newest.at("messages").as_array().size(), 2U);
    ASSERT_TRUE(newest.contains("messages_next"));
    const auto older =
        call("session.show", fmt::format(R"({{"session_id":"a","messages":2,"before":{}}})",
                                         newest.at("messages_next").as_int64()));
    ASSERT_EQ(older.at("messages").as_array().size(), 1U);
    EXPECT_EQ(older.at("messages").at(0).at("content").as_string(), "one");
    EXPECT_FALSE(older.contains("messages_next"));
}

TEST_F(Answers, ListsAndEventsSayWhereTheNextPageBegins) {
    for (const auto* id : {"a", "b", "c"}) {
        call("session.create", fmt::format(R"({{"id":"{}","source":"cli"}})", id));
    }
    const auto first = call("session.list", R"({"all":true,"limit":2})");
    ASSERT_EQ(first.at("sessions").as_array().size(), 2U);
    const auto rest = call("session.list", fmt::format(R"({{"all":true,"limit":2,"cursor":"{}"}})",
                                                       std::string(wire::text_at(first, "next"))));
    EXPECT_EQ(rest.at("sessions").as_array().size(), 1U);
    EXPECT_FALSE(rest.contains("next"));

    const auto events = call("events.read", R"({"limit":2})");
    EXPECT_EQ(events.at("events").as_array().size(), 2U);
    EXPECT_EQ(events.at("next").as_int64(), 2);
    EXPECT_FALSE(events.contains("gap"));
    EXPECT_EQ(call("events.read", R"({"after":2})").at("events").as_array().size(), 1U);
}

TEST_F(Answers, WhatEndedIsListedInTheOrderOfTheEnds) {
    for (const auto* id : {"a", "b", "c"}) {
        call("session.create",
             fmt::format(R"({{"id":"{}","source":"cli","title":"t","cwd":"/{}"}})", id, id));
    }
    for (const auto* id : {"c", "a"}) {
        call("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
        backend_.pass(std::chrono::seconds{10});
    }
    const auto ids = [&](std::string_view params) {
        std::string found;
        const auto page = call("session.list", params);
        for (const auto& session : page.at("sessions").as_array()) {
            found += std::string_view(session.at("id").as_string());
        }
        return found + std::string(wire::text_at(page, "next").empty() ? "" : "+");
    };

    EXPECT_EQ(ids(R"({"by_end":true})"), "ac");
    EXPECT_EQ(ids(R"({"by_end":true,"limit":1})"), "a+");
    const auto first = call("session.list", R"({"by_end":true,"limit":1})");
    EXPECT_EQ(ids(fmt::format(R"({{"by_end":true,"cursor":"{}"}})",
                              std::string(wire::text_at(first, "next")))),
              "c");
    EXPECT_EQ(ids(R"({"by_end":true,"cwd":"/c/"})"), "c");
    EXPECT_EQ(ids(R"({"by_end":true,"within_s":15})"), "a");
    for (const auto* wrong :
         {R"({"cwd":"/c"})", R"({"within_s":5})", R"({"by_end":true,"cwd":"c"})",
          R"({"by_end":true,"ended":false})", R"({"by_end":true,"status":"idle"})",
          R"({"by_end":true,"cursor":"3"})", R"({"cursor":"3.4"})"}) {
        EXPECT_EQ(call("session.list", wrong).at("code").as_int64(), -32602) << wrong;
    }
}

TEST_F(Answers, IdsAreFoundByTheirBeginningAndShortened) {
    for (const auto* id : {"build-1", "build-10", "01a1e04a-f2a2-7527-bba8-10e989f53217"}) {
        call("session.create", fmt::format(R"({{"id":"{}","source":"cli"}})", id));
    }
    const auto found = call("session.find", R"({"prefix":"build-1","limit":1})");
    ASSERT_EQ(found.at("sessions").as_array().size(), 1U);
    EXPECT_EQ(found.at("sessions").at(0).at("id").as_string(), "build-1");
    EXPECT_EQ(found.at("more").as_bool(), true);
    EXPECT_FALSE(call("session.find", R"({"prefix":"build"})").contains("more"));
    EXPECT_EQ(
        text("session.short_ids", R"({"ids":["build-10","01a1e04a-f2a2-7527-bba8-10e989f53217"]})"),
        R"({"short_ids":["build-10","01a1e04a"]})");
    for (const auto* wrong : {R"({"ids":[]})", R"({"ids":[1]})", R"({"ids":["a b"]})", "{}"}) {
        EXPECT_EQ(call("session.short_ids", wrong).at("code").as_int64(), -32602) << wrong;
    }
}

TEST_F(Answers, WhoCannotBeToldMoreCannotFollow) {
    const auto error = call("events.subscribe");
    EXPECT_EQ(error.at("code").as_int64(), -32600);
}

TEST_F(Answers, OfTheNode) {
    EXPECT_EQ(call("node.sweep", R"({"dry_run":true})").at("dry_run").as_bool(), true);
    EXPECT_EQ(call("node.sweep").at("dry_run").as_bool(), false);
    EXPECT_EQ(call("config.check").at("ok").as_bool(), true);
    EXPECT_EQ(call("node.status").at("sessions").at("open").to_number<int>(), 0);
    EXPECT_EQ(text("node.stop"), R"({"stopping":true})");
    EXPECT_EQ(call("no.such").at("code").as_int64(), -32601);
}

TEST_F(Answers, NumbersAreTakenUpToTheirBoundsAndNoFurther) {
    call("session.create", R"({"id":"a","source":"cli"})");
    struct Bound {
        std::string_view method;
        std::string_view params;  // with {} for the number
        std::string_view field;
        std::int64_t min;
        std::int64_t max;
    };
    for (const auto& [method, params, field, min, max] : {
             Bound{"session.show", R"({{"session_id":"a","messages":{}}})", "messages", 0,
                   limits::show_messages_max},
             Bound{"session.show", R"({{"session_id":"a","before":{}}})", "before", 1, INT64_MAX},
             Bound{"session.list", R"({{"limit":{}}})", "limit", 1, limits::list_page_max},
             Bound{"events.read", R"({{"limit":{}}})", "limit", 1, limits::events_page_max},
             Bound{"events.read", R"({{"after":{}}})", "after", 0, INT64_MAX},
             Bound{"node.sweep", R"({{"after":{}}})", "after", 0, INT64_MAX},
             Bound{"session.create", R"({{"source":"x","owner":{{"lease_ttl_s":{}}}}})",
                   "owner.lease_ttl_s", limits::lease_ttl_min.count(),
                   limits::lease_ttl_max.count()},
         }) {
        const auto with = [&](std::int64_t number) {
            return call(method, fmt::format(fmt::runtime(params), number));
        };
        EXPECT_FALSE(with(min).contains("code")) << method << field << min;
        EXPECT_FALSE(with(max).contains("code")) << method << field << max;
        ASSERT_TRUE(with(min - 1).contains("code")) << method << field;
        EXPECT_EQ(with(min - 1).at("data").at("field").as_string(), field) << method;
        if (max == INT64_MAX) continue;
        ASSERT_TRUE(with(max + 1).contains("code")) << method << field;
        EXPECT_EQ(with(max + 1).at("data").at("field").as_string(), field) << method;
    }
}

}  // namespace
}  // namespace knell::rpc
