#include "cli/why_report.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");

JsonObject parse(std::string_view text) {
    return wire::parse_json(text).value().as_object();
}

std::string report(std::string_view why) {
    return why_report(parse(why), {}, {now, ShownZone::utc}, "/home/me");
}

TEST(WhyReport, OfALiveSessionSaysWhatWouldEndItAndWhen) {
    EXPECT_EQ(report(R"({
        "session": {"id": "abc", "status": "idle", "title": "claude",
                    "owner": {"kind": "process", "pid": 4242, "host": "h"},
                    "on_owner_loss": "end", "started_at": "2026-11-15T11:57:00.000Z"},
        "verdict": "alive", "evidence": "process 4242 (start ticks 7) is watched",
        "transitions": [{"time": "2026-11-15T11:57:00.000Z", "generation": 1,
                         "event": "session:start"}],
        "would_end": [{"cause": "process 4242 ends"},
                      {"cause": "its lease is not renewed in time", "due_in_s": 30.2},
                      {"cause": "nobody claims it", "due_in_s": 299.9}]})"),
              "\"claude\" is alive and idle, 3 min after it started.\n"
              "abc is alive: process 4242 (start ticks 7) is watched\n"
              "\n"
              "status           idle\n"
              "title            claude\n"
              "owner            process 4242 on h\n"
              "when it is lost  end\n"
              "started          2026-11-15 11:57:00 UTC (3m ago)\n"
              "\n"
              "History\n"
              "TIME                         GEN  EVENT          CAUSE  EVIDENCE\n"
              "2026-11-15 11:57:00.000 UTC    1  session:start  -      -\n"
              "\n"
              "What would end it\n"
              "- process 4242 ends\n"
              "- its lease is not renewed in time (in 31 s)\n"
              "- nobody claims it (in 5m 0s)\n");
}

TEST(WhyReport, OfAnEndedSessionSaysHowThatIsKnownAndWhatItLeft) {
    EXPECT_EQ(report(R"json({
        "session": {"id": "abc", "status": "ended", "reason": "signaled", "proof": "observed",
                    "detail": "signal 9 (SIGKILL)", "evidence": "seen through its pidfd",
                    "ended_at": "2026-11-15T11:59:00.000Z",
                    "ended_after": "2026-11-15T11:58:00.000Z",
                    "ended_before": "2026-11-15T11:59:00.000Z",
                    "leftovers": [{"pid": 77, "start_ticks": 1, "command": "sleep 300",
                                   "found_by": "left to the session's knell run",
                                   "fate": "killed"}]},
        "verdict": "dead", "evidence": "seen through its pidfd", "transitions": [],
        "would_end": []
})json"),
              "A session died of SIGKILL.\n"
              "abc ended 1m ago: signaled (observed): signal 9 (SIGKILL)\n"
              "\n"
              "status    ended\n"
              "ended     2026-11-15 11:59:00 UTC (1m ago)\n"
              "          between 2026-11-15 11:58:00.000 UTC and 2026-11-15 11:59:00.000 UTC\n"
              "evidence  seen through its pidfd\n"
              "\n"
              "Left behind when it ended\n"
              "PID  COMMAND    FATE    KNOWN BY\n"
              " 77  sleep 300  killed  left to the session's knell run\n");
}

TEST(WhyReport, OnANarrowTerminalEvidenceIsWrappedNotCut) {
    const auto why = parse(R"json({
        "session": {"id": "abc", "status": "ended", "reason": "signaled", "proof": "observed",
                    "detail": "signal 9 (SIGKILL)", "ended_at": "2026-11-15T11:59:00.000Z",
                    "evidence": "process 14407 (uid 0), the command's parent, waited for it"},
        "verdict": "dead",
        "transitions": [{"time": "2026-11-15T11:57:00.000Z", "generation": 1,
                         "event": "session:start"},
                        {"time": "2026-11-15T11:59:00.000Z", "generation": 1,
                         "event": "session:end", "cause": "signaled (observed)",
                         "evidence": "process 14407 (uid 0), the command's parent, waited"}],
        "would_end": [{"cause": "session.close, by its owner or by a person (knell end)"}]})json");

    EXPECT_EQ(why_report(why, {.interactive = true, .colour = false, .width = 40},
                         {now, ShownZone::utc}, ""),
              "A session died of SIGKILL.\n"
              "abc ended 1m ago: signaled (observed):\n"
              "signal 9 (SIGKILL)\n"
              "\n"
              "status    ended\n"
              "ended\n"
              "  2026-11-15 11:59:00 UTC (1m ago)\n"
              "evidence\n"
              "  process 14407 (uid 0), the command's\n"
              "  parent, waited for it\n"
              "\n"
              "History\n"
              "2026-11-15 11:57:00.000 UTC session:start\n"
              "2026-11-15 11:59:00.000 UTC session:end\n"
              "  signaled (observed)\n"
              "  process 14407 (uid 0), the command's\n"
              "  parent, waited\n"
              "\n"
              "What would end it\n"
              "- session.close, by its owner or by a\n"
              "  person (knell end)\n");
}

TEST(WhyReport, UnknownIsAnAnswer) {
    const auto text = report(R"({"session": {"id": "abc"}, "verdict": "unknown",
                                 "evidence": "its owner cannot be checked"})");

    EXPECT_TRUE(text.contains("\nwhether abc is alive is unknown: its owner cannot be checked\n"))
        << text;
}

TEST(WhyReport, SaysInWordsWhatIsTheMatterWithItsReset) {
    EXPECT_EQ(report(R"({"session": {"id": "abc", "status": "idle"}, "verdict": "alive",
                         "evidence": "it said so",
                         "reset_explained": ["session_reset holds for it", "it is due"]})"),
              "A session is alive and idle.\nabc is alive: it said so\n\nstatus  idle\n\n"
              "When its conversation begins anew\n"
              "- session_reset holds for it\n"
              "- it is due\n");
}

TEST(WhyReport, OfADaemonThatSaysLittleIsShort) {
    EXPECT_EQ(report(R"({"session": {"id": "abc", "status": "idle"}, "verdict": "alive",
                         "evidence": "it said so"})"),
              "A session is alive and idle.\nabc is alive: it said so\n\nstatus  idle\n");
}

}  // namespace
}  // namespace knell::cli
