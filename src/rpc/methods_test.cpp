#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "testing/commands.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/record_check.hpp"

namespace knell::rpc {
namespace {

using namespace std::chrono_literals;

class Methods : public ::testing::Test {
  protected:
    /// The result, or the error, of one call.
    JsonObject call(std::string_view method, std::string_view params) {
        const auto line =
            backend_.answer(std::string(R"({"jsonrpc":"2.0","id":1,"method":")") +
                            std::string(method) + R"(","params":)" + std::string(params) + "}");
        const auto answer = wire::parse_json(line);
        EXPECT_TRUE(answer) << line;
        const auto& object = answer->get_object();
        const auto* part = object.if_contains("result");
        return (part != nullptr ? *part : object.at("error")).get_object();
    }
    void TearDown() override {
        EXPECT_EQ(testing::broken_promises(backend_.reader()), std::vector<std::string>{});
    }

    testing::InProcessBackend backend_;
};

TEST_F(Methods, TheCallerOwnsWhatItOpensUnlessItSaysOtherwise) {
    call("session.create", R"({"id":"a","source":"cli"})");
    const auto shown = call("session.show", R"({"session_id":"a"})");

    EXPECT_EQ(shown.at("owner").at("pid").as_int64(), 100);
    EXPECT_EQ(shown.at("owner").at("kind").as_string(), "process");
}

TEST_F(Methods, ADeadOwnerIsRefusedByName) {
    const auto error = call("session.create", R"({"source":"cli","owner":{"pid":4242}})");

    EXPECT_EQ(error.at("code").as_int64(), -32602);
    EXPECT_EQ(error.at("data").at("field").as_string(), "owner.pid");
}

TEST_F(Methods, AnOwnerThatIsGoneIsNotCalledAliveWhileItsEndCannotBeWritten) {
    call("session.create", R"({"id":"a","source":"cli"})");
    EXPECT_EQ(call("session.why", R"({"session_id":"a"})").at("verdict").as_string(), "alive");

    backend_.fake_processes().end(100);

    const auto why = call("session.why", R"({"session_id":"a"})");
    EXPECT_EQ(why.at("verdict").as_string(), "dead");
    EXPECT_NE(why.at("evidence").as_string().find("not recorded yet"), std::string::npos);
}

TEST_F(Methods, ALeaseComesWithAdviceWhenToRenewIt) {
    const auto opened = call("session.create", R"({"source":"cli","owner":{"lease_ttl_s":45}})");

    EXPECT_EQ(opened.at("lease_ttl_s").as_int64(), 45);
    EXPECT_EQ(opened.at("renew_every_s").as_int64(), 15);
}

TEST_F(Methods, ALeaseOfTheUsualLengthNeedsNoNumber) {
    const auto opened = call("session.create", R"({"source":"cli","owner":{"kind":"lease"}})");

    EXPECT_EQ(opened.at("lease_ttl_s").as_int64(), 45);
}

TEST_F(Methods, ALeaseBelowTheFloorIsRefused) {
    const auto error = call("session.create", R"({"source":"cli","owner":{"lease_ttl_s":4}})");

    EXPECT_EQ(error.at("data").at("field").as_string(), "owner.lease_ttl_s");
}

TEST_F(Methods, HeartbeatsTellRenewedFencedAndEnded) {
    call("session.create", R"({"id":"a","source":"x","owner":{"lease_ttl_s":5}})");
    call("session.create", R"({"id":"b","source":"x","owner":{"lease_ttl_s":5}})");
    const auto beat =
        call("session.heartbeat",
             R"({"sessions":[{"session_id":"a","generation":1},)"
             R"({"session_id":"b","generation":9},{"session_id":"c","generation":1}]})");

    EXPECT_EQ(wire::to_text(beat), R"({"renewed":["a"],"fenced":["b"],"ended":["c"]})");
}

TEST_F(Methods, WhySaysWhatWouldEndALeaseAndWhen) {
    call("session.create", R"({"id":"a","source":"x","owner":{"lease_ttl_s":45}})");
    backend_.pass(14s);
    const auto why = call("session.why", R"({"session_id":"a"})");

    EXPECT_EQ(why.at("verdict").as_string(), "alive");
    EXPECT_EQ(why.at("would_end").at(1).at("due_in_s").as_double(), 31.0);
    backend_.pass(32s);
    const auto dead = call("session.why", R"({"session_id":"a"})");
    EXPECT_EQ(dead.at("verdict").as_string(), "dead");
    EXPECT_EQ(dead.at("session").at("reason").as_string(), "reaped");
    EXPECT_TRUE(dead.at("would_end").as_array().empty());
}

TEST_F(Methods, WhySaysHowTheOwnerOfAParkedSessionWent) {
    call("session.create", R"({"id":"a","source":"x","on_owner_loss":"park"})");
    const auto owner = backend_.fake_processes().identify(100);
    ASSERT_TRUE(owner);
    backend_.observe(OwnerGone{*owner, testing::signaled(9), {}, /*searched=*/true});

    const auto why = call("session.why", R"({"session_id":"a"})");

    EXPECT_EQ(why.at("verdict").as_string(), "unknown");
    const std::string went = "signaled, signal 9 (SIGKILL): seen to be killed";
    EXPECT_EQ(why.at("session").at("park_why").as_string(), went);
    EXPECT_TRUE(why.at("session").as_object().contains("parked_before"));
    EXPECT_NE(why.at("evidence").as_string().find("(" + went + "); it waits to be claimed"),
              std::string::npos);
}

TEST_F(Methods, OwnedTellsWhoAndHowThatIsKnown) {
    call("session.create", R"({"id":"a","source":"x"})");
    const auto error = call("session.resume", R"({"session_id":"a"})");

    EXPECT_EQ(error.at("code").as_int64(), -32002);
    EXPECT_EQ(error.at("data").at("owner").at("pid").as_int64(), 100);
    EXPECT_FALSE(error.at("data").at("how_known").as_string().empty());
}

TEST_F(Methods, EveryMethodDescribesItself) {
    const auto described = call("rpc.describe", "{}");

    std::vector<std::string_view> names;
    for (const auto& method : described.at("methods").as_array()) {
        const auto& name = method.at("name").as_string();
        names.emplace_back(name);
        EXPECT_FALSE(method.at("summary").as_string().empty()) << name;
        // What is said to be required is what a call without it misses.
        for (const auto& param : method.at("params").as_array()) {
            if (!param.at("required").as_bool()) continue;
            const auto error = call(name, "{}");
            EXPECT_EQ(error.at("code").as_int64(), -32602) << name;
            EXPECT_EQ(error.at("data").at("field").as_string(), param.at("name").as_string());
            break;
        }
    }
    // Clients were written against these.
    EXPECT_THAT(names,
                ::testing::IsSupersetOf(
                    {"session.create", "session.resume",    "session.append", "session.close",
                     "session.why",    "session.list",      "session.show",   "turn.start",
                     "turn.end",       "session.heartbeat", "events.read",    "events.subscribe",
                     "hooks.list",     "hooks.test",        "hooks.retry",    "hooks.pause",
                     "hooks.resume",   "hooks.forget",      "hooks.letters",  "config.check",
                     "node.status",    "node.sweep",        "node.stop",      "rpc.describe"}));
}

TEST_F(Methods, ACloseWithAWordThatIsNoBooleanIsRefusedAndNothingIsSearched) {
    call("session.create", R"({"id":"a","source":"cli","leftovers":"report"})");
    for (const auto* field : {"reaper", "find_leftovers"}) {
        for (const auto* others : {"", R"(,"find_leftovers":true)", R"(,"find_leftovers":false)"}) {
            const auto params =
                fmt::format(R"({{"session_id":"a","{}":"yes"{}}})", field,
                            std::string_view(field) == "reaper" ? others : R"(,"reaper":true)");
            const auto error = call("session.close", params);

            EXPECT_EQ(error.at("code").as_int64(), -32602) << params;
            EXPECT_EQ(error.at("data").at("field").as_string(), field) << params;
        }
    }
    EXPECT_TRUE(backend_.searches.empty());
    EXPECT_EQ(call("session.show", R"({"session_id":"a"})").at("status").as_string(), "idle");
}

TEST_F(Methods, ACloseSearchesOnlyWhenAskedAndForWhomItNames) {
    call("session.create", R"({"id":"a","source":"cli","leftovers":"report"})");
    const auto missing = call("session.close", R"({"find_leftovers":true})");
    EXPECT_EQ(missing.at("data").at("field").as_string(), "session_id");
    EXPECT_TRUE(backend_.searches.empty());

    backend_.found.leftovers = {testing::leftover(4711)};
    const auto closed = call("session.close", R"({"session_id":"a","find_leftovers":true})");

    ASSERT_EQ(backend_.searches.size(), 1U);
    EXPECT_EQ(backend_.searches[0].session, SessionId("a"));
    EXPECT_EQ(backend_.searches[0].reaper, std::nullopt) << "nobody said so";
    EXPECT_EQ(closed.at("leftovers").at(0).at("pid").as_int64(), 4711);

    call("session.create", R"({"id":"b","source":"cli","leftovers":"report"})");
    const auto plain = call("session.close", R"({"session_id":"b","reaper":true})");
    EXPECT_EQ(plain.at("reason").as_string(), "completed");
    EXPECT_EQ(backend_.searches.size(), 1U) << "not asked for";
}

TEST_F(Methods, OnlyOurOwnWrapperIsBelievedToReap) {
    for (const bool is_knell : {true, false}) {
        const auto id = is_knell ? "a" : "b";
        backend_.fake_processes().set_knell(100, is_knell);
        call("session.create",
             fmt::format(R"({{"id":"{}","source":"cli","leftovers":"report"}})", id));
        call("session.close",
             fmt::format(R"({{"session_id":"{}","find_leftovers":true,"reaper":true}})", id));

        ASSERT_FALSE(backend_.searches.empty());
        const auto& reaper = backend_.searches.back().reaper;
        EXPECT_EQ(reaper.has_value(), is_knell);
        if (is_knell) {
            EXPECT_EQ(reaper->pid, 100);
        }
    }
}

TEST_F(Methods, ReasonsOfTheDaemonAreNotForClients) {
    call("session.create", R"({"id":"a","source":"x"})");
    for (const auto* reason : {"reaped", "host_restart", "superseded", "node_lost", "imported"}) {
        const auto error = call("session.close",
                                std::string(R"({"session_id":"a","reason":")") + reason + R"("})");
        EXPECT_EQ(error.at("data").at("field").as_string(), "reason") << reason;
    }
}

TEST_F(Methods, AnAnswerThatIsTooLongIsALimitUnderItsId) {
    backend_.report_trouble(limits::answer_bytes_max);

    const auto line = backend_.answer(R"({"jsonrpc":"2.0","id":"mine","method":"hooks.list"})");

    EXPECT_LT(line.size(), 1000U);
    const auto answer = wire::parse_json(line)->as_object();
    EXPECT_EQ(answer.at("id").as_string(), "mine");
    EXPECT_EQ(answer.at("error").at("data").at("kind").as_string(), "limit");
}

TEST_F(Methods, LettersOfAllComeInPages) {
    SaveDeliveries save;
    for (const auto* name : {"b", "a"}) {
        SubscriptionSaved saved;
        saved.subscription.name = name;
        save.changes.emplace_back(saved);
        for (Seq seq = 1; seq <= 2; ++seq) {
            PendingDelivery letter;
            letter.subscriber = name;
            letter.rendered = {.seq = seq,
                               .id = "e",
                               .type = "notice",
                               .time = "2026-01-01T00:00:00.000Z",
                               .json = "{}"};
            save.changes.emplace_back(PendingSaved{letter});
        }
    }
    ASSERT_TRUE(backend_.commit(std::move(save)));

    std::string seen;
    std::string cursor;
    do {
        const auto page = call("hooks.letters", R"({"limit":1,"cursor":")" + cursor + R"("})");
        const auto& letters = page.at("letters").as_array();
        ASSERT_EQ(letters.size(), 1U);
        seen += std::string(wire::text_at(letters[0].as_object(), "name")) +
                std::to_string(wire::int_at(letters[0].as_object(), "seq")) + " ";
        cursor = wire::text_at(page, "next");
    } while (!cursor.empty());
    EXPECT_EQ(seen, "a1 a2 b1 b2 ");
    for (const auto* bad : {"a", ":1", "a:", "a:x", "a:1x"}) {
        const auto error = call("hooks.letters", R"({"cursor":")" + std::string(bad) + R"("})");
        EXPECT_EQ(error.at("data").at("field").as_string(), "cursor") << bad;
    }
}

TEST_F(Methods, TransitionsGoOnAfterAnEvent) {
    call("session.create", R"({"id":"a","source":"cli"})");
    call("session.close", R"({"session_id":"a"})");
    const auto all = call("session.why", R"({"session_id":"a"})");
    ASSERT_EQ(all.at("transitions").as_array().size(), 2U);
    EXPECT_FALSE(all.contains("next"));
    const auto start = call("events.read", R"({"session_id":"a","limit":1})");
    const auto rest = call("session.why", R"({"session_id":"a","after":)" +
                                              std::to_string(wire::int_at(start, "next")) + "}");
    ASSERT_EQ(rest.at("transitions").as_array().size(), 1U);
    EXPECT_EQ(rest.at("transitions").at(0).at("event").as_string(), "session:end");
}

}  // namespace
}  // namespace knell::rpc
