// process.*: what is taken, what is refused, and what is answered.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/process_calls.hpp"

namespace knell::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ProcessMethods = testing::ProcessCalls;

TEST_F(ProcessMethods, StartHandsOnWhatWasGivenAndAnswersTheRow) {
    const auto row =
        call("process.start", R"({"session_id":"a","task_id":"t","argv":["sh","-c","make\n"],)"
                              R"("cwd":"/tmp","env":{"A":"1","B":""},"title":"build"})");
    ASSERT_EQ(backend_.started.size(), 1U);
    const auto& [draft, environment] = backend_.started.front();
    EXPECT_THAT(draft.argv, ElementsAre("sh", "-c", "make\n"));
    EXPECT_THAT(environment, ElementsAre("A=1", "B="));
    EXPECT_EQ(draft.cwd, "/tmp");
    EXPECT_EQ(row.at("process_id").as_string(), draft.id.text());
    EXPECT_EQ(why_not_a_process_id(draft.id.text()), std::nullopt);
    EXPECT_EQ(row.at("session_id").as_string(), "a");
    EXPECT_EQ(row.at("task_id").as_string(), "t");
    EXPECT_EQ(row.at("scope").as_string(), "task");
    EXPECT_EQ(row.at("session").as_string(), "open");
    EXPECT_EQ(row.at("origin").as_string(), "started");
    EXPECT_EQ(row.at("command").as_string(), "sh -c make?");
    EXPECT_EQ(row.at("title").as_string(), "build");
    EXPECT_EQ(row.at("state").as_string(), "running");
    EXPECT_EQ(row.at("counts").as_bool(), true);
    EXPECT_THAT(wire::to_text(row), ::testing::Not(HasSubstr("\"env")));
}

TEST_F(ProcessMethods, StartRefusesByField) {
    for (const auto& [params, field] : {
             std::pair{R"({"argv":["x"]})", "session_id"},
             {R"({"session_id":"a"})", "argv"},
             {R"({"session_id":"a","argv":[]})", "argv"},
             {R"({"session_id":"a","argv":"x"})", "argv"},
             {R"({"session_id":"a","argv":["x",2]})", "argv[1]"},
             {R"({"session_id":"a","argv":[""]})", "argv[0]"},
             {R"({"session_id":"a","argv":["x\u0000"]})", "argv[0]"},
             {R"({"session_id":"a","argv":["x"],"task_id":""})", "task_id"},
             {R"({"session_id":"a","argv":["x"],"title":""})", "title"},
             {R"({"session_id":"a","argv":["x"],"cwd":""})", "cwd"},
             {R"({"session_id":"a","argv":["x"],"cwd":"tmp"})", "cwd"},
             {R"({"session_id":"a","argv":["x"],"cwd":"/a\nb"})", "cwd"},
             {R"({"session_id":"a","argv":["x"],"env":["A=1"]})", "env"},
             {R"({"session_id":"a","argv":["x"],"env":{"A":1}})", "env"},
             {R"({"session_id":"a","argv":["x"],"env":{"A=":"1"}})", "env"},
         }) {
        EXPECT_EQ(field_at_fault("process.start", params), field) << params;
    }
    JsonArray words(limits::process_words_max + 1, "x");
    EXPECT_EQ(field_at_fault("process.start",
                             wire::to_text(JsonObject{{"session_id", "a"}, {"argv", words}})),
              "argv");
    EXPECT_THAT(backend_.started, IsEmpty()) << "nothing was started";
    EXPECT_EQ(kind_of_error(call("process.start", R"({"session_id":"none","argv":["x"]})")),
              "not_found");
}

TEST_F(ProcessMethods, StartNamesTheVariableAndKeepsItsValue) {
    const auto refusal = [this](std::string_view env) {
        const auto error = call("process.start",
                                fmt::format(R"({{"session_id":"a","argv":["x"],"env":{}}})", env));
        return std::string(wire::text_at(error, "message"));
    };
    EXPECT_THAT(refusal(R"({"A":"1","PORT":8080})"), HasSubstr("PORT, whose value must be"));
    EXPECT_THAT(refusal(R"({"A":"1","B":"secret\u0000"})"), HasSubstr("B, whose value must not"));
    EXPECT_THAT(refusal(R"({"A":"1","KNELL_HOME":"secret"})"), HasSubstr("KNELL_HOME"));
    EXPECT_THAT(refusal(R"({"":"secret"})"), HasSubstr("a variable without a name"));
    EXPECT_THAT(refusal(R"({"A\n":"secret"})"), HasSubstr("control characters"));
    EXPECT_THAT(refusal(R"({"TOKEN=secret":""})"), HasSubstr("= in it, behind \"TOKEN\""));
    const auto long_name = fmt::format("KNELL_{:x<200}", "");
    EXPECT_THAT(refusal(fmt::format(R"({{"{}":"secret"}})", long_name)),
                ::testing::Not(HasSubstr(long_name)));
    for (const auto* env : {R"({"B":"secret\u0000"})", R"({"KNELL_HOME":"secret"})",
                            R"({"":"secret"})", R"({"A\n":"secret"})", R"({"TOKEN=secret":""})"}) {
        EXPECT_THAT(refusal(env), ::testing::Not(HasSubstr("secret"))) << env;
    }
}

TEST_F(ProcessMethods, LimitsAreThoseOfTheConfig) {
    backend_.process_limits = {1, 2};
    started();
    EXPECT_EQ(kind_of_error(call("process.start", R"({"session_id":"a","argv":["x"]})")), "limit");
    EXPECT_EQ(kind_of_error(call("process.register", R"({"session_id":"a","pid":300})")), "limit");
    call("session.create", R"({"id":"b","source":"cli"})");
    EXPECT_TRUE(call("process.start", R"({"session_id":"b","argv":["x"]})").contains("pid"));
    call("session.create", R"({"id":"c","source":"cli"})");
    EXPECT_EQ(kind_of_error(call("process.start", R"({"session_id":"c","argv":["x"]})")), "limit");
}

TEST_F(ProcessMethods, RegisterTakesALivingProcessOfTheCallersUser) {
    const auto row =
        call("process.register", R"({"session_id":"a","pid":300,"task_id":"t","title":"web"})");
    EXPECT_EQ(row.at("origin").as_string(), "registered");
    EXPECT_EQ(row.at("pid").as_int64(), 300);
    EXPECT_EQ(row.at("command").as_string(), "python3 -m http.server");
    EXPECT_EQ(row.at("cwd").as_string(), "/srv");
    EXPECT_EQ(row.at("process_id").as_string(),
              process_id_of(*backend_.fake_processes().identify(300)).text());
}

TEST_F(ProcessMethods, RegisterRefusesWhatIsNobodysBackgroundProcess) {
    auto& processes = backend_.fake_processes();
    backend_.watched.insert(304);
    for (const pid_t pid : {1, 301, 302, 304, 305}) {
        processes.start(pid, 9);
        processes.set_knell(pid, pid == 301);
        processes.set_look(pid, {.uid = pid == 302 ? 1001U : 1000U, .argv = {"x"}, .cwd = "/"});
    }
    processes.set_look(305, {.uid = 1000, .argv = {}, .cwd = ""});
    for (const auto* pid :
         {"1", "100", "301", "302", "303", "304", "305", "0", "-1", "2147483648"}) {
        EXPECT_EQ(field_at_fault("process.register",
                                 fmt::format(R"({{"session_id":"a","pid":{}}})", pid)),
                  "pid")
            << pid;
    }
    EXPECT_EQ(field_at_fault("process.register", R"({"session_id":"a"})"), "pid");

    auto root = backend_.caller();
    std::get<UnixPeer>(root.who).uid = 0;
    EXPECT_EQ(
        call("process.register", R"({"session_id":"a","pid":302})", root).at("pid").as_int64(), 302)
        << "root may register anybody's";
    EXPECT_THAT(std::string(wire::text_at(
                    call("process.register", R"({"session_id":"a","pid":305})", root), "message")),
                HasSubstr("is a thread of the kernel"));
    Caller page{.who = HttpClient{"127.0.0.1:1", Access::processes}};
    EXPECT_EQ(
        call("process.register", R"({"session_id":"a","pid":300})", page).at("pid").as_int64(), 300)
        << "a client on HTTP counts as the daemon does";
}

TEST_F(ProcessMethods, RegisterReadsAPidAsTheCallerCounts) {
    auto inside = backend_.caller();
    std::get<UnixPeer>(inside.who).pid_namespace = 77;
    EXPECT_EQ(wire::text_at(call("process.register", R"({"session_id":"a","pid":5})", inside)
                                .at("data")
                                .as_object(),
                            "field"),
              "pid");
    backend_.fake_processes().show(77, 5, 300);
    EXPECT_EQ(
        call("process.register", R"({"session_id":"a","pid":5})", inside).at("pid").as_int64(),
        300);
}

TEST_F(ProcessMethods, ARegisteredProcessMayHaveWrittenAnythingOverItsWords) {
    const auto long_word = std::string(limits::process_argv_bytes_max, 'x') + "\xc3\xa4";
    backend_.fake_processes().set_look(
        300, {.uid = 1000, .argv = {"a\xff", long_word, "b"}, .cwd = "/\xfe"});
    const auto row = call("process.register", R"({"session_id":"a","pid":300})");
    EXPECT_EQ(row.at("argv").at(0).as_string(), "a\xef\xbf\xbd");
    EXPECT_LT(row.at("argv").at(1).as_string().size(), limits::process_argv_bytes_max);
    EXPECT_EQ(row.at("cwd").as_string(), "/\xef\xbf\xbd");
}

TEST_F(ProcessMethods, ListMarksTheTaskAndTellsTheSessionsOthersToo) {
    const auto of_task = started(R"(,"task_id":"t")");
    const auto of_other = started(R"(,"task_id":"u")");
    const auto of_none = started();
    call("session.create", R"({"id":"b","source":"cli"})");
    call("process.start", R"({"session_id":"b","argv":["x"]})");

    const auto scopes = [this](std::string_view params) {
        std::string text;
        for (const auto& row : call("process.list", params).at("processes").as_array()) {
            text += fmt::format("{} ", std::string(row.at("scope").as_string()));
        }
        return text;
    };
    EXPECT_EQ(scopes(R"({"session_id":"a","task_id":"t"})"), "session session task ");
    EXPECT_EQ(scopes(R"({"session_id":"a"})"), "session task task ");
    EXPECT_EQ(scopes(R"({"key":"k"})"), "session task task ");
    EXPECT_EQ(scopes("{}"), "session session task task ");
    EXPECT_EQ(scopes(R"({"key":"none"})"), "");
    EXPECT_EQ(field_at_fault("process.list", R"({"session_id":"a","key":"k"})"), "key");
    EXPECT_EQ(field_at_fault("process.list", R"({"key":""})"), "key");
    EXPECT_EQ(field_at_fault("process.list", R"({"cursor":"x"})"), "cursor");
    EXPECT_EQ(field_at_fault("process.list", R"({"limit":0})"), "limit");
}

TEST_F(ProcessMethods, ListSaysWhenThereIsNoSuchSession) {
    const auto mistyped = call("process.list", R"({"session_id":"aa"})");
    EXPECT_EQ(kind_of_error(mistyped), "not_found");
    EXPECT_THAT(std::string(wire::text_at(mistyped, "message")), HasSubstr("no session aa"));
    const auto is_empty = [this](std::string_view params) {
        return call("process.list", params).at("processes").as_array().empty();
    };
    EXPECT_TRUE(is_empty(R"({"session_id":"a"})"));
    EXPECT_TRUE(is_empty(R"({"session_id":"a","task_id":"nobody's"})"));
    call("session.close", R"({"session_id":"a","generation":1})");
    EXPECT_TRUE(is_empty(R"({"session_id":"a"})")) << "it has ended, and is on record";
}

TEST_F(ProcessMethods, ListComesInPages) {
    const auto first = started();
    const auto second = started();
    const auto page = call("process.list", R"({"limit":1})");
    EXPECT_EQ(page.at("processes").at(0).at("process_id").as_string(), second);
    const auto rest = call("process.list", fmt::format(R"({{"limit":1,"cursor":"{}"}})",
                                                       std::string(wire::text_at(page, "next"))));
    EXPECT_EQ(rest.at("processes").at(0).at("process_id").as_string(), first);
    EXPECT_FALSE(rest.contains("next"));
}

TEST_F(ProcessMethods, ListForgetsWhatEndedHalfAnHourAgoUnlessAskedForAll) {
    const auto id = started();
    exit_of(id);
    const auto count = [this](std::string_view params) {
        return call("process.list", params).at("processes").as_array().size();
    };
    EXPECT_EQ(count("{}"), 1U);
    backend_.pass(31min);
    EXPECT_EQ(count("{}"), 0U);
    EXPECT_EQ(count(R"({"all":true})"), 1U);
    EXPECT_EQ(about("process.show", id).at("state").as_string(), "exited");
}

TEST_F(ProcessMethods, WhatItDoesNowIsNewerThanTheRecord) {
    const auto id = started();
    backend_.live_activity[ProcessId(id)] = {ProcessActivity::listening, from_millis(5),
                                             "listens on 127.0.0.1:8765"};
    EXPECT_EQ(about("process.show", id).at("activity").as_string(), "listening");
    const auto listed = call("process.list", "{}").at("processes").at(0).as_object();
    EXPECT_EQ(listed.at("evidence").as_string(), "listens on 127.0.0.1:8765");
    EXPECT_EQ(listed.at("counts").as_bool(), false);
    exit_of(id);
    EXPECT_EQ(about("process.show", id).at("activity").as_string(), "exited");
}

TEST_F(ProcessMethods, StopAnswersOnceAndAgain) {
    const auto id = started();
    const auto asked = about("process.stop", id);
    EXPECT_EQ(asked.at("stopping").as_bool(), true);
    EXPECT_EQ(asked.at("already_exited").as_bool(), false);
    EXPECT_EQ(asked.at("stop_asked_by").as_string(), "process 100 (uid 1000)");
    EXPECT_EQ(about("process.stop", id).at("stopping").as_bool(), true);
    exit_of(id);
    const auto late = about("process.stop", id);
    EXPECT_EQ(late.at("stopping").as_bool(), false);
    EXPECT_EQ(late.at("already_exited").as_bool(), true);
    EXPECT_TRUE(late.contains("exit"));
}

TEST_F(ProcessMethods, ARowSaysWhetherItIsBeingStoppedWithWhatItStarted) {
    const auto id = started();
    EXPECT_EQ(about("process.show", id).at("stopping").as_bool(), false);
    about("process.stop", id);
    EXPECT_EQ(about("process.show", id).at("stopping").as_bool(), true);
    exit_of(id);
    backend_.live_stops[ProcessId(id)] = {.is_stopping = true, .left = {}};
    EXPECT_EQ(about("process.show", id).at("stopping").as_bool(), true) << "what it started";
    EXPECT_EQ(about("process.stop", id).at("already_exited").as_bool(), true);
    backend_.live_stops[ProcessId(id)] = {.is_stopping = false, .left = "process 7 (agent): why"};
    const auto row = about("process.show", id);
    EXPECT_EQ(row.at("stopping").as_bool(), false);
    EXPECT_EQ(row.at("stop_failed").as_string(), "process 7 (agent): why");
}

TEST_F(ProcessMethods, AStopThatWasGivenUpSaysWhyUntilTheNext) {
    const auto id = started();
    about("process.stop", id);
    const auto process = backend_.reader().process(ProcessId(id)).value()->process.process;
    backend_.observe(ProcessNotStopped{ProcessId(id), process, "process 7 (agent): why"});
    const auto row = about("process.show", id);
    EXPECT_EQ(row.at("stopping").as_bool(), false);
    EXPECT_EQ(row.at("stop_failed").as_string(),
              "process 7 (agent): why; process 100 (uid 1000) had asked for it");
    EXPECT_FALSE(row.contains("stop_asked_at"));
    EXPECT_FALSE(row.contains("stop_asked_by"));
    const auto again = about("process.stop", id);
    EXPECT_EQ(again.at("stopping").as_bool(), true);
    EXPECT_FALSE(again.contains("stop_failed"));
    EXPECT_EQ(again.at("stop_asked_by").as_string(), "process 100 (uid 1000)");
}

TEST_F(ProcessMethods, StopOfOneThatEndsMeanwhileSaysSo) {
    const auto id = started();
    backend_.holds_reads = true;
    std::string answered;
    backend_.dispatcher().handle(
        fmt::format(
            R"({{"jsonrpc":"2.0","id":1,"method":"process.stop","params":{{"process_id":"{}"}}}})",
            id),
        backend_.caller(), [&answered](std::optional<wire::Answer> answer) {
            answered = answer->result.value_or("refused");
        });
    EXPECT_EQ(answered, "") << "the record is asked first";
    backend_.do_reads();
    EXPECT_THAT(answered, HasSubstr("\"stopping\":true"));

    answered.clear();
    backend_.refusals.emplace_back(ErrorCode::not_found, "no such process runs", "", ErrorFacts{});
    backend_.dispatcher().handle(
        fmt::format(
            R"({{"jsonrpc":"2.0","id":2,"method":"process.stop","params":{{"process_id":"{}"}}}})",
            id),
        backend_.caller(), [&answered](std::optional<wire::Answer> answer) {
            answered = answer->result.value_or("refused");
        });
    backend_.do_reads();
    exit_of(id);
    backend_.do_reads();
    EXPECT_THAT(answered, HasSubstr("\"already_exited\":true"));
}

TEST_F(ProcessMethods, WhatIsRefusedForWantOfRoomIsNotDone) {
    const auto id = started();
    backend_.refuses_reads = true;
    EXPECT_EQ(kind_of_error(about("process.stop", id)), "limit");
    backend_.refuses_reads = false;
    EXPECT_FALSE(about("process.show", id).contains("stop_asked_at"));
}

TEST_F(ProcessMethods, VouchCountsUntilThenAndCanBeTakenBack) {
    const auto id = started();
    const auto vouched = about("process.vouch", id, R"(,"until":"2h")");
    EXPECT_EQ(vouched.at("vouched_until").as_string(), format_rfc3339(backend_.wall_time() + 2h));
    EXPECT_FALSE(about("process.vouch", id, R"(,"until":"off")").contains("vouched_until"));
    exit_of(id);
    EXPECT_EQ(kind_of_error(about("process.vouch", id, R"(,"until":"2h")")), "ended");
    for (const auto* until :
         {R"(,"until":"")", R"(,"until":"8d")", R"(,"until":"1")", R"(,"until":3600)", ""}) {
        EXPECT_EQ(
            field_at_fault("process.vouch", fmt::format(R"({{"process_id":"{}"{}}})", id, until)),
            "until")
            << until;
    }
}

TEST_F(ProcessMethods, AnIdThatIsNoneIsToldFromOneThatIsNotThere) {
    for (const auto* method : {"process.show", "process.output", "process.stop", "process.vouch"}) {
        const auto* more = std::string_view(method) == "process.vouch" ? R"(,"until":"2h")" : "";
        for (const auto* id :
             {"", "p-", "s-0000000000000", "p-000000000000/", "p-0000000000000 "}) {
            EXPECT_EQ(field_at_fault(method, fmt::format(R"({{"process_id":"{}"{}}})", id, more)),
                      "process_id")
                << method << id;
        }
        EXPECT_EQ(field_at_fault(method, "{}"), "process_id") << method;
        EXPECT_EQ(kind_of_error(about(method, "p-zzzzzzzzzzzzz", more)), "not_found") << method;
    }
}

TEST_F(ProcessMethods, ShowAndWhyOfASessionNameItsProcesses) {
    EXPECT_EQ(call("session.show", R"({"session_id":"a"})").at("processes").to_number<int>(), 0);
    const auto id = started();
    started();
    EXPECT_EQ(call("session.show", R"({"session_id":"a"})").at("processes").to_number<int>(), 2);
    EXPECT_EQ(call("session.why", R"({"session_id":"a"})").at("processes").as_array().size(), 2U);
    exit_of(id);
    EXPECT_EQ(call("session.show", R"({"session_id":"a"})").at("processes").to_number<int>(), 1);
}

TEST_F(ProcessMethods, WhySaysWhichWorkKeepsAHostedSession) {
    call("session.create", R"({"id":"h","source":"web","owner":{"kind":"hosted"}})");
    call("process.start", R"({"session_id":"h","argv":["make","all"]})");
    const auto why = call("session.why", R"({"session_id":"h"})");
    EXPECT_THAT(std::string(wire::text_at(why, "evidence")), HasSubstr("(make all)"));
    EXPECT_EQ(why.at("session").at("status").as_string(), "background");
    EXPECT_TRUE(why.at("session").as_object().contains("background_since"));
}

TEST_F(ProcessMethods, EventsCarryTheProcess) {
    const auto id = started();
    exit_of(id);
    const auto events = call("events.read", R"({"types":["process:start","process:exit"]})");
    ASSERT_EQ(events.at("events").as_array().size(), 2U);
    const auto& start = events.at("events").at(0).at("process").as_object();
    const auto& exit = events.at("events").at(1).at("process").as_object();
    EXPECT_EQ(wire::text_at(start, "process_id"), id);
    EXPECT_EQ(wire::text_at(start, "state"), "running");
    EXPECT_EQ(wire::text_at(exit, "state"), "exited");
}

}  // namespace
}  // namespace knell::rpc
