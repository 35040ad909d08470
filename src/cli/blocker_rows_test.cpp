#include "cli/blocker_rows.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");

JsonArray parse(std::string_view text) {
    return wire::parse_json(text).value().as_array();
}

TEST(BlockerRows, SayWhatRunsSinceWhenAndHowLongItCanHold) {
    const auto blockers = parse(R"([
        {"process_id": "p-1", "pid": 7, "command": "make -j8", "activity": "working",
         "started_at": "2026-11-15T11:00:00.000Z", "until": "2026-11-16T11:00:00.000Z"},
        {"process_id": "p-2", "pid": 8, "command": "sleep 9000", "activity": "waiting",
         "started_at": "2026-11-15T11:59:30.000Z", "vouched_until": "2026-11-15T14:00:00.000Z",
         "until": "2026-11-15T14:00:00.000Z"}])");

    EXPECT_EQ(blocker_table(blockers, now).render({}),
              "PROCESS  PID  AGE    ACTIVITY  HOLDS UNTIL              COMMAND\n"
              "p-1        7  1h 0m  working   in 23h                   make -j8\n"
              "p-2        8  30s    waiting   vouched for, ends in 2h  sleep 9000\n");
}

TEST(BlockerRows, OfTheProcessesThoseThatCountAreInTheWayAndNamedAsTheDaemonDoes) {
    const auto processes = parse(R"([
        {"process_id": "p-1", "session_id": "s", "pid": 7, "command": "make", "argv": ["make"],
         "started_at": "2026-11-15T11:00:00.000Z", "activity": "working", "counts": true},
        {"process_id": "p-2", "pid": 8, "activity": "waiting", "counts": false},
        {"process_id": "p-3", "pid": 9, "command": "sleep 9", "activity": "waiting",
         "started_at": "2026-11-15T11:00:00.000Z", "counts": true,
         "vouched_until": "2026-11-15T14:00:00.000Z"}])");

    EXPECT_EQ(blockers_among(processes), parse(R"([
        {"process_id": "p-1", "pid": 7, "command": "make",
         "started_at": "2026-11-15T11:00:00.000Z", "activity": "working"},
        {"process_id": "p-3", "pid": 9, "command": "sleep 9",
         "started_at": "2026-11-15T11:00:00.000Z", "activity": "waiting",
         "vouched_until": "2026-11-15T14:00:00.000Z"}])"));
}

TEST(BlockerRows, AdviceNamesThemUntilThereAreTooMany) {
    auto blockers = parse(R"([{"process_id": "p-1"}, {"process_id": "p-2"}])");
    EXPECT_EQ(blocker_advice(blockers, "chat"),
              "Wait for it, stop it with: knell stop p-1 p-2\n"
              "or reset all the same: knell reset --force chat");
    EXPECT_TRUE(blocker_advice(blockers, "$(id)").ends_with("knell reset --force '$(id)'"));
    for (int more = 0; more < 3; ++more) blockers.push_back(blockers.front());
    EXPECT_TRUE(blocker_advice(blockers, "chat").contains("knell stop --session ID"));
}

}  // namespace
}  // namespace knell::cli
