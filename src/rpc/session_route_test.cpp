// session.route, session.reset, session.suspend: conversations of a key, and when they begin anew.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "testing/commands.hpp"
#include "testing/in_process_backend.hpp"
#include "testing/record_check.hpp"

namespace knell::rpc {
namespace {

using namespace std::chrono_literals;

constexpr auto hello = R"({"key":"k","source":"gateway"})";

class Conversations : public ::testing::Test {
  protected:
    /// The result, or the error, of one call.
    JsonObject call(std::string_view method, std::string_view params) {
        return call(method, params, backend_.caller());
    }
    JsonObject call(std::string_view method, std::string_view params, const Caller& caller) {
        return part_of(backend_.answer(line_of(method, params), caller));
    }
    static std::string line_of(std::string_view method, std::string_view params) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method,
                           params);
    }
    static JsonObject part_of(const std::string& line) {
        const auto answer = wire::parse_json(line);
        EXPECT_TRUE(answer) << line;
        const auto& object = answer->get_object();
        const auto* part = object.if_contains("result");
        return (part != nullptr ? *part : object.at("error")).get_object();
    }
    std::string route() { return id_of(call("session.route", hello)); }
    static std::string id_of(const JsonObject& result) {
        return std::string(wire::text_at(result, "session_id"));
    }
    JsonObject show(std::string_view id) {
        return call("session.show", fmt::format(R"({{"session_id":"{}"}})", id));
    }
    std::string explained(std::string_view id) {
        const auto why = call("session.why", fmt::format(R"({{"session_id":"{}"}})", id));
        std::string text;
        for (const auto& sentence : why.at("reset_explained").as_array()) {
            text += std::string(sentence.as_string()) + "\n";
        }
        return text;
    }
    void append(std::string_view id, bool automatic) {
        const auto done =
            call("session.append",
                 fmt::format(R"({{"session_id":"{}","generation":1,"messages":[{{"role":"user",)"
                             R"("content":"x"}}],"automatic":{}}})",
                             id, automatic));
        EXPECT_FALSE(done.contains("code")) << wire::to_text(done);
    }
    /// A background process that works.
    std::string start_work(std::string_view session) {
        const auto process =
            call("process.start",
                 fmt::format(R"({{"session_id":"{}","argv":["make","-j8"],"cwd":"/"}})", session));
        return std::string(wire::text_at(process, "process_id"));
    }
    void reset_after(std::chrono::minutes idle) {
        ResetPolicy policy;
        policy.mode = ResetMode::idle;
        policy.idle = idle;
        policy.name = "session_reset";
        backend_.use_policies(ResetPolicies(policy, {}));
    }
    Caller other() { return {.who = backend_.dispatcher().identify(200, 1000, /*pidfd=*/-1)}; }
    void TearDown() override {
        EXPECT_EQ(testing::broken_promises(backend_.reader()), std::vector<std::string>{});
    }

    testing::InProcessBackend backend_;
};

// --- session.route ------------------------------------------------------------------------------

TEST_F(Conversations, AKeyHasOneSessionAndItsOwnerIsWhoAsks) {
    const auto first = call("session.route", hello);
    const auto again = call("session.route", hello);

    EXPECT_EQ(first.at("new").as_bool(), true);
    EXPECT_EQ(again.at("new").as_bool(), false);
    EXPECT_EQ(id_of(first), id_of(again));
    EXPECT_EQ(again.at("generation").as_int64(), 1);
    for (const auto* name : {"resumed", "auto_reset", "deferred", "lease_ttl_s"}) {
        EXPECT_FALSE(again.contains(name)) << name;
    }
    const auto shown = show(id_of(first));
    EXPECT_EQ(shown.at("owner").at("pid").as_int64(), 100);
    EXPECT_EQ(shown.at("key").as_string(), "k");
}

TEST_F(Conversations, WhatARouteSaysOfASessionIsOnRecord) {
    const auto routed =
        call("session.route",
             R"({"key":"k","source":"gateway","platform":"telegram","chat_type":"dm",)"
             R"("user_id":"42","title":"t","cwd":"/tmp","model":"m","owner":{"lease_ttl_s":45},)"
             R"("on_owner_loss":"park","park_s":9,"meta":{"a":1},"automatic":true})");
    const auto shown = show(id_of(routed));

    EXPECT_EQ(routed.at("lease_ttl_s").as_int64(), 45);
    EXPECT_EQ(routed.at("renew_every_s").as_int64(), 15);
    EXPECT_EQ(shown.at("platform").as_string(), "telegram");
    EXPECT_EQ(shown.at("chat_type").as_string(), "dm");
    EXPECT_EQ(shown.at("user_id").as_string(), "42");
    EXPECT_EQ(shown.at("title").as_string(), "t");
    EXPECT_EQ(shown.at("cwd").as_string(), "/tmp");
    EXPECT_EQ(shown.at("model").as_string(), "m");
    EXPECT_EQ(shown.at("park_s").as_int64(), 9);
    EXPECT_EQ(wire::to_text(shown.at("meta")), R"({"a":1})");
}

TEST_F(Conversations, ARouteNeedsAKey) {
    for (const auto* params :
         {R"({"source":"gateway"})", R"({"key":"","source":"gateway"})", R"({"key":"k"})"}) {
        const auto error = call("session.route", params);
        EXPECT_EQ(error.at("code").as_int64(), -32602) << params;
        const auto* field = std::string_view(params).contains("source") ? "key" : "source";
        EXPECT_EQ(error.at("data").at("field").as_string(), field) << params;
    }
}

TEST_F(Conversations, AKeyOfALivingOwnerIsOwned) {
    route();

    const auto error = call("session.route", hello, other());

    EXPECT_EQ(error.at("code").as_int64(), -32002);
    EXPECT_EQ(error.at("data").at("owner").at("pid").as_int64(), 100);
    EXPECT_TRUE(wire::text_at(error, "message").contains("session.resume and takeover: true"));
}

TEST_F(Conversations, AnOwnerIsLookedAtBeforeTheAnswerIsOwned) {
    const auto id = route();
    const auto owner = backend_.fake_processes().identify(100);
    backend_.holds_looks = true;
    std::string answer;
    backend_.dispatcher().handle(line_of("session.route", hello), other(),
                                 [&](const auto& reply) { answer = wire::answer_line(*reply); });
    ASSERT_EQ(answer, "") << "it is not answered before the look";

    backend_.observe(OwnerGone{*owner, testing::signaled(9), {}, /*searched=*/true});
    backend_.do_look();

    const auto routed = part_of(answer);
    EXPECT_EQ(id_of(routed), id);
    EXPECT_EQ(routed.at("resumed").as_bool(), true);
    EXPECT_EQ(routed.at("new").as_bool(), false);
    EXPECT_EQ(routed.at("generation").as_int64(), 2);
}

TEST_F(Conversations, ARouteThatFollowsAResetNamesTheOneBefore) {
    reset_after(60min);
    const auto before = route();
    backend_.pass(61min);

    const auto routed = call("session.route", hello);

    EXPECT_NE(id_of(routed), before);
    EXPECT_EQ(wire::to_text(routed.at("auto_reset")),
              fmt::format(R"({{"prior_session_id":"{}","reason":"idle"}})", before));
    const auto ended = show(before);
    EXPECT_EQ(ended.at("reason").as_string(), "idle_expiry");
    EXPECT_EQ(ended.at("successor").as_string(), id_of(routed));
    EXPECT_FALSE(ended.contains("reset"));
    EXPECT_EQ(show(id_of(routed)).at("parent_id").as_string(), before);
}

TEST_F(Conversations, AMachinesDoingIsNoInteraction) {
    reset_after(60min);
    const auto id = route();
    const auto said = show(id).at("last_interaction_at");
    backend_.pass(1min);
    append(id, /*automatic=*/true);
    call("turn.start", fmt::format(R"({{"session_id":"{}","generation":1,"automatic":true}})", id));
    call("turn.end", fmt::format(R"({{"session_id":"{}","generation":1,"automatic":true}})", id));
    EXPECT_EQ(show(id).at("last_interaction_at"), said);

    append(id, /*automatic=*/false);
    EXPECT_NE(show(id).at("last_interaction_at"), said);
}

// --- what is told of resets ---------------------------------------------------------------------

TEST_F(Conversations, WhoseResetIsToComeIsToldByWhichPolicyAndWhen) {
    ResetPolicy base;
    base.name = "session_reset";
    ResetPolicy daily;
    daily.mode = ResetMode::both;
    daily.idle = 90min;
    daily.at = 6h + 30min;
    daily.on_reset = OnReset::stop;
    daily.name = "session_reset.overrides[1] (platform telegram)";
    backend_.use_policies(ResetPolicies(
        base, {{.selector = {.source = {}, .platform = "telegram", .chat_type = {}, .key = {}},
                .policy = daily}}));
    const auto id =
        id_of(call("session.route", R"({"key":"k","source":"gateway","platform":"telegram"})"));
    const auto due = format_rfc3339(backend_.wall_time() + 90min);

    const auto shown = show(id);
    EXPECT_EQ(shown.at("next_reset_at").as_string(), due);
    EXPECT_EQ(wire::to_text(shown.at("reset")),
              fmt::format(R"x({{"policy":"session_reset.overrides[1] (platform telegram)",)x"
                          R"("mode":"both","next_reset_at":"{}","kind":"idle",)"
                          R"("on_reset":"stop"}})",
                          due));
    const auto words = explained(id);
    EXPECT_TRUE(words.contains(
        "session_reset.overrides[1] (platform telegram) holds for it: it is reset after 90 min in "
        "which nobody says anything, and every day at 06:30 (UTC) (mode both)\n"))
        << words;
    EXPECT_TRUE(words.contains("the next reset is at " + due + " (idle)")) << words;
    EXPECT_TRUE(words.contains("are then stopped (on_reset stop)")) << words;
    const auto why = call("session.why", fmt::format(R"({{"session_id":"{}"}})", id));
    EXPECT_EQ(why.at("reset"), shown.at("reset"));
    EXPECT_TRUE(wire::to_text(why.at("would_end")).contains("its reset policy (session_reset."));
}

TEST_F(Conversations, WhatIsNotResetByItselfSaysSo) {
    const auto id = route();

    const auto shown = show(id);

    EXPECT_EQ(wire::to_text(shown.at("reset")),
              R"({"policy":"session_reset","mode":"none","on_reset":"warn"})");
    EXPECT_FALSE(shown.contains("next_reset_at"));
    EXPECT_EQ(explained(id),
              "session_reset holds for it: it is never reset by itself (mode none)\n");
    call("session.create", R"({"id":"keyless","source":"cli"})");
    EXPECT_FALSE(show("keyless").contains("reset"));
    EXPECT_FALSE(call("session.why", R"({"session_id":"keyless"})").contains("reset_explained"));
}

TEST_F(Conversations, WhatHoldsAResetIsNamedWhereverItIsAskedFor) {
    reset_after(60min);
    const auto id = route();
    const auto began = backend_.wall_time();
    const auto process = start_work(id);
    backend_.pass(61min);

    const auto held = show(id).at("reset").at("held").as_object();
    const auto let_go = format_rfc3339(began + 24h);
    EXPECT_EQ(held.at("until").as_string(), let_go);
    ASSERT_EQ(held.at("blockers").as_array().size(), 1U);
    const auto& blocker = held.at("blockers").at(0);
    EXPECT_EQ(blocker.at("process_id").as_string(), process);
    EXPECT_EQ(blocker.at("pid").as_int64(), 1001);
    EXPECT_EQ(blocker.at("command").as_string(), "make -j8");
    EXPECT_EQ(blocker.at("activity").as_string(), "working");
    EXPECT_EQ(blocker.at("until").as_string(), let_go);

    const auto words = explained(id);
    EXPECT_TRUE(words.contains("its reset is due since ")) << words;
    EXPECT_TRUE(words.contains("background work holds its reset back since ")) << words;
    EXPECT_TRUE(words.contains(fmt::format(
        "{} (pid 1001, 61 min old, working) can hold it until {}: make -j8\n", process, let_go)))
        << words;
    const auto why = call("session.why", fmt::format(R"({{"session_id":"{}"}})", id));
    EXPECT_EQ(why.at("reset").at("held"), Json(held)) << "memory and the record agree";

    const auto routed = call("session.route", hello);
    EXPECT_EQ(id_of(routed), id);
    EXPECT_EQ(routed.at("deferred"), Json(held));
    EXPECT_FALSE(show(id).at("reset").as_object().contains("held")) << "somebody spoke";
}

TEST_F(Conversations, WhatIsSeenToWorkNoLongerCannotHoldAReset) {
    reset_after(60min);
    const auto id = route();
    const ProcessId process(start_work(id));
    backend_.pass(61min);
    backend_.live_activity[process] = {.activity = ProcessActivity::waiting,
                                       .since = backend_.wall_time(),
                                       .evidence = "it sleeps"};

    const auto held = show(id).at("reset").at("held").as_object();

    EXPECT_EQ(held.at("blockers").at(0).at("activity").as_string(), "waiting");
    EXPECT_FALSE(held.at("blockers").at(0).as_object().contains("until"));
    EXPECT_FALSE(held.contains("until"));
}

// --- session.reset ------------------------------------------------------------------------------

TEST_F(Conversations, AResetEndsWhatIsNamedByKeyOrById) {
    const auto first = route();
    const auto reset = call("session.reset", R"({"key":"k"})");
    EXPECT_EQ(id_of(reset), first);
    EXPECT_EQ(reset.at("status").as_string(), "ended");
    EXPECT_EQ(reset.at("reason").as_string(), "manual_reset");
    EXPECT_EQ(reset.at("already_ended").as_bool(), false);
    EXPECT_FALSE(reset.contains("suspended"));

    const auto second = route();
    EXPECT_NE(second, first);
    EXPECT_EQ(id_of(call("session.reset", fmt::format(R"({{"session_id":"{}"}})", second))),
              second);
    const auto again = call("session.reset", R"({"key":"k"})");
    EXPECT_EQ(id_of(again), second);
    EXPECT_EQ(again.at("already_ended").as_bool(), true);
}

TEST_F(Conversations, WhoWantsANewConversationIsNotGivenTheOneThatDied) {
    const auto id = route();
    const auto owner = backend_.fake_processes().identify(100);
    backend_.observe(OwnerGone{*owner, testing::signaled(9), {}, /*searched=*/true});

    const auto reset = call("session.reset", R"({"key":"k"})");
    EXPECT_EQ(reset.at("suspended").as_bool(), true);
    EXPECT_EQ(reset.at("reason").as_string(), "signaled");

    const auto routed = call("session.route", hello);
    EXPECT_NE(id_of(routed), id);
    EXPECT_EQ(routed.at("auto_reset").at("reason").as_string(), "suspended");
}

TEST_F(Conversations, ANameIsAnIdOrAKey) {
    for (const auto* method : {"session.reset", "session.suspend"}) {
        for (const auto* params : {"{}", R"({"session_id":"a","key":"k"})"}) {
            const auto error = call(method, params);
            EXPECT_EQ(error.at("code").as_int64(), -32602) << method << params;
            EXPECT_EQ(error.at("data").at("field").as_string(), "session_id") << method << params;
        }
        const auto error = call(method, R"({"key":"nobody's"})");
        EXPECT_EQ(error.at("code").as_int64(), -32001) << method;
    }
}

TEST_F(Conversations, AResetIsBlockedByWorkAndNamesItUnlessForced) {
    const auto id = route();
    const auto process = start_work(id);

    const auto error = call("session.reset", R"({"key":"k"})");
    EXPECT_EQ(error.at("code").as_int64(), -32004);
    const auto& blockers = error.at("data").at("blockers").as_array();
    ASSERT_EQ(blockers.size(), 1U);
    EXPECT_EQ(blockers[0].at("process_id").as_string(), process);
    EXPECT_EQ(show(id).at("status").as_string(), "background");

    const auto forced = call("session.reset", R"({"key":"k","force":true})");
    EXPECT_EQ(forced.at("reason").as_string(), "manual_reset");
}

TEST_F(Conversations, AResetDoesNotHideADeathThatIsSeenByThen) {
    route();
    const auto owner = backend_.fake_processes().identify(100);
    backend_.holds_looks = true;
    std::string answer;
    backend_.dispatcher().handle(line_of("session.reset", R"({"key":"k"})"), other(),
                                 [&](const auto& reply) { answer = wire::answer_line(*reply); });
    ASSERT_EQ(answer, "");
    backend_.observe(OwnerGone{*owner, testing::exited(3), {}, /*searched=*/true});
    backend_.do_look();

    EXPECT_EQ(part_of(answer).at("reason").as_string(), "exited");
}

// --- session.suspend ----------------------------------------------------------------------------

TEST_F(Conversations, TheNextMessageOfASuspendedOneBeginsANewConversation) {
    const auto id = route();
    const auto suspended = call("session.suspend", R"({"key":"k","why":"enough"})");
    EXPECT_EQ(wire::to_text(suspended),
              fmt::format(R"({{"session_id":"{}","generation":1,"changed":true}})", id));
    EXPECT_EQ(call("session.suspend", fmt::format(R"({{"session_id":"{}"}})", id))
                  .at("changed")
                  .as_bool(),
              false);
    EXPECT_TRUE(show(id).at("suspended").at("why").as_string().starts_with("enough"));
    EXPECT_TRUE(explained(id).contains("it is suspended since ")) << explained(id);

    const auto routed = call("session.route", hello);
    EXPECT_EQ(wire::to_text(routed.at("auto_reset")),
              fmt::format(R"({{"prior_session_id":"{}","reason":"suspended"}})", id));
}

}  // namespace
}  // namespace knell::rpc
