#include "cli/status_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JsonObject parse(std::string_view text) {
    return wire::parse_json(text).value().as_object();
}

StatusVerdict judged(std::string_view status, std::string_view hooks = "{}") {
    DaemonSurroundings around;
    around.hooks = parse(hooks);
    return judge_status(parse(status), around);
}

TEST(StatusVerdict, AllIsWellWhereNothingIsWrong) {
    const auto verdict = judged(
        R"({"sessions":{"open":3,"unknown":0},"leaks":{"ended_without_reason":0},"degraded":[]})",
        R"({"hooks":[{"name":"diary","state":"active","dead":0}],"problems":[]})");

    EXPECT_TRUE(verdict.is_healthy());
    EXPECT_THAT(verdict.remarks, IsEmpty());
}

TEST(StatusVerdict, WhatIsWrongComesWithWhatToDo) {
    EXPECT_THAT(judged(R"({"degraded":["the disk is full"]})").problems,
                ElementsAre("degraded: the disk is full"));
    EXPECT_THAT(judged(R"({"sessions":{"unknown":2}})").problems,
                ElementsAre(HasSubstr("knell ls --status unknown")));
    EXPECT_THAT(judged(R"({"leaks":{"ended_without_reason":1}})").problems,
                ElementsAre(HasSubstr("1 session ended without a reason")));
}

TEST(StatusVerdict, HooksThatDoNotDeliverAreWrong) {
    const auto verdict = judged("{}", R"({"hooks":[
        {"name":"a b","kind":"hook","state":"failing","last_error":"exit 1"},
        {"name":"w","kind":"webhook","state":"disabled","last_error":"410 Gone"},
        {"name":"p","kind":"hook","state":"paused"},
        {"name":"d","kind":"hook","state":"active","dead":2}],
        "problems":[{"name":"x","message":"HOOK.yaml: line 3"}]})");

    EXPECT_THAT(verdict.problems,
                ElementsAre(HasSubstr("hook a b fails (exit 1)"), HasSubstr("knell hooks resume w"),
                            HasSubstr("2 events never reached hook d"),
                            HasSubstr("x cannot be used: HOOK.yaml: line 3")));
    EXPECT_THAT(verdict.remarks, ElementsAre(HasSubstr("hook p is paused")));
}

TEST(StatusVerdict, ADiskThatIsNearlyFullIsWrong) {
    DaemonSurroundings around;
    around.disk_bytes = 100'000'000'000;
    around.disk_free = 600'000'000;
    EXPECT_TRUE(judge_status({}, around).is_healthy());

    around.disk_free = 400'000'000;
    EXPECT_THAT(judge_status({}, around).problems, ElementsAre(HasSubstr("400.0 MB left")));
}

TEST(StatusVerdict, WhatIsLeftRunningIsWorthKnowing) {
    DaemonSurroundings around;
    around.leftovers = 1;
    const auto verdict = judge_status(parse(R"({"resets":{"held":1}})"), around);

    EXPECT_TRUE(verdict.is_healthy());
    EXPECT_THAT(verdict.remarks,
                ElementsAre(HasSubstr("1 reset is due"),
                            HasSubstr("1 process runs that sessions left behind")));
}

}  // namespace
}  // namespace knell::cli
