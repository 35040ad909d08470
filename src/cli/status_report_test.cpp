#include "cli/status_report.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

Fact fact(std::string_view status, std::string_view name) {
    const auto facts = status_facts(wire::parse_json(status).value().as_object());
    const auto found = std::ranges::find(facts, name, &Fact::name);
    return found == facts.end() ? Fact{} : *found;
}

TEST(StatusFacts, OnlyWhatIsThereIsCountedAndUnknownAlways) {
    EXPECT_EQ(fact(R"({"sessions": {"open": 3, "running": 1, "attached": 0, "idle": 2,
                                    "unknown": 0}})",
                   "sessions")
                  .value,
              "3 open: 1 running, 2 idle, 0 unknown");
    EXPECT_EQ(fact(R"({"sessions": {"open": 0}})", "sessions").value, "0 open");
}

TEST(StatusFacts, TellWhereHttpClientsAreServed) {
    EXPECT_EQ(fact(R"({"http": "127.0.0.1:7717"})", "http").value, "http://127.0.0.1:7717");
    EXPECT_EQ(fact("{}", "http").value, "");
}

TEST(StatusFacts, EndsAreToldByReasonAndByProof) {
    constexpr auto status = R"({"ended": {
        "day": {"total": 12, "by_reason": {"completed": 10, "signaled": 2},
                "by_proof": {"declared": 10, "observed": 2}},
        "week": {"total": 0, "by_reason": {}, "by_proof": {}}}})";

    EXPECT_EQ(fact(status, "ended in a day").value,
              "12: 10 completed, 2 signaled; by proof: 10 declared, 2 observed");
    EXPECT_EQ(fact(status, "ended in a week").value, "0");
}

TEST(StatusFacts, ALeakIsSeen) {
    const auto none = fact(R"({"leaks": {"ended_without_reason": 0}})", "leaks");
    EXPECT_EQ(none.value, "0 ended rows without a reason");
    EXPECT_EQ(none.tone, Tone::plain);

    const auto one = fact(R"({"leaks": {"ended_without_reason": 1}})", "leaks");
    EXPECT_EQ(one.value, "1 ended row without a reason");
    EXPECT_EQ(one.tone, Tone::bad);
}

TEST(StatusFacts, TellOfHooksDiskAndLog) {
    DaemonSurroundings around;
    around.hooks = wire::parse_json(R"({"hooks":[{"state":"active"},{"state":"failing"},
                                                 {"state":"active"}]})")
                       .value()
                       .as_object();
    around.disk_free = 2'500'000'000;
    around.disk_bytes = 10'000'000'000;
    around.log_file = "/k/knell.log";
    around.log_bytes = 1200;
    const auto facts = status_facts({}, around);
    const auto value = [&](std::string_view name) {
        const auto found = std::ranges::find(facts, name, &Fact::name);
        return found == facts.end() ? std::string{} : found->value;
    };

    EXPECT_EQ(value("hooks"), "3: 2 active, 1 failing");
    EXPECT_EQ(value("disk"), "2.5 GB free of 10.0 GB");
    EXPECT_EQ(value("log"), "/k/knell.log (1.2 kB); knell logs prints it");
}

TEST(StatusFacts, TheVerdictComesWithWhatIsToBeDone) {
    const auto status = wire::parse_json(R"({"sessions":{"open":2}})").value().as_object();

    EXPECT_EQ(verdict_text(status, {}, {}), "healthy: 2 sessions open, nothing is wrong\n\n");
    EXPECT_EQ(verdict_text(status, {.problems = {"a"}, .remarks = {"b"}}, {}),
              "not healthy: 1 thing has to be mended\n- a\n- b\n\n");
}

TEST(StatusFacts, LatenessIsToldOnceThereWasAReap) {
    EXPECT_EQ(fact(R"({"leases": {"live": 2, "heartbeats": 120, "reaps": 0,
                                  "reap_lateness_last_ms": 0, "reap_lateness_max_ms": 0}})",
                   "leases")
                  .value,
              "2 live; 120 heartbeats, 0 reaps so far");
    EXPECT_EQ(fact(R"({"leases": {"live": 2, "heartbeats": 120, "reaps": 3,
                                  "reap_lateness_last_ms": 4, "reap_lateness_max_ms": 9}})",
                   "leases")
                  .value,
              "2 live; 120 heartbeats, 3 reaps so far, the last 4 ms late, the latest 9 ms");
}

TEST(StatusFacts, WhatADaemonDoesNotTellIsLeftOut) {
    for (const auto* name : {"sessions", "ended in a day", "leaks", "leases", "watched", "store"}) {
        EXPECT_EQ(fact("{}", name).value, "") << name;
    }
    EXPECT_EQ(fact(R"({"resets": {"held": 0}})", "resets").value, "");
    EXPECT_THAT(fact(R"({"resets": {"held": 2}})", "resets").value,
                ::testing::StartsWith("2 are due and wait for background work"));
    EXPECT_EQ(fact(R"({"watched_processes": 1})", "watched").value, "1 process");
}

}  // namespace
}  // namespace knell::cli
