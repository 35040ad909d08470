#include "cli/sweep_report.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

JsonObject parse(std::string_view text) {
    return wire::parse_json(text).value().as_object();
}

TEST(SweepEnds, NamesEachWithItsEvidence) {
    const auto sweep = parse(R"({"dry_run": true, "ended_count": 1, "ended": [
        {"session_id": "a", "pid": 42, "reason": "owner_lost", "evidence": "no process 42"}]})");

    EXPECT_EQ(sweep_ends(sweep, {}),
              "would end 1 session\n"
              "- a as owner_lost: no process 42\n");
}

TEST(SweepEnds, MoreThanTheDaemonNamesAreCounted) {
    const auto sweep = parse(R"({"dry_run": false, "ended_count": 5, "ended": [
        {"session_id": "a", "pid": 42, "reason": "exited", "evidence": "exit 1"}]})");

    const auto text = sweep_ends(sweep, {});

    EXPECT_TRUE(text.starts_with("ended 5 sessions\n")) << text;
    EXPECT_TRUE(text.ends_with("\n- 4 more, not named here\n")) << text;
}

TEST(SweepEnds, NothingToEndIsSaid) {
    EXPECT_EQ(sweep_ends(parse(R"({"dry_run": true, "ended_count": 0})"), {}),
              "nothing would be ended: no owner is proven dead\n");
    EXPECT_EQ(sweep_ends(parse(R"({"dry_run": false, "ended_count": 0, "ended": []})"), {}),
              "nothing was ended: no owner is proven dead\n");
}

TEST(SweepLeftAlone, SessionsWithTheSameWhyStandTogetherAndTheUnknownComeFirst) {
    const auto sweep = parse(R"({"dry_run": false, "left_alone_count": 13, "left_alone": [
        {"session_id": "a", "pid": 1, "verdict": "alive", "why": "process 1 is there"},
        {"session_id": "b", "pid": 2, "verdict": "unknown", "why": "another pid namespace"},
        {"session_id": "c", "pid": 1, "verdict": "alive", "why": "process 1 is there"},
        {"session_id": "d", "pid": 1, "verdict": "alive", "why": "process 1 is there"},
        {"session_id": "e", "pid": 1, "verdict": "alive", "why": "process 1 is there"},
        {"session_id": "f", "pid": 1, "verdict": "alive", "why": "process 1 is there"}],
        "leases": {"count": 4, "why": "renewed"}, "parked": {"count": 1, "why": "waiting"}})");

    EXPECT_EQ(sweep_left_alone(sweep, {}),
              "left 13 sessions alone\n"
              "- 1 unknown: another pid namespace: b\n"
              "- 5 alive: process 1 is there: a, c, d and 2 more\n"
              "- 1 parked: waiting\n"
              "- 4 lease: renewed\n"
              "- 2 more: not named here\n");
}

TEST(SweepLeftAlone, NothingIsNothing) {
    EXPECT_EQ(sweep_left_alone(parse(R"({"left_alone_count": 0, "left_alone": [],
        "leases": {"count": 0, "why": "x"}, "parked": {"count": 0, "why": "x"}})"),
                               {}),
              "");
}

}  // namespace
}  // namespace knell::cli
