#include "cli/process_rows.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_width.hpp"

namespace knell::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const WallTime now = *parse_rfc3339("2026-05-20T12:00:00Z");

JsonArray three_processes() {
    return wire::parse_json(R"([
      {"process_id":"p-0000000000001","session_id":"build-42","session":"open","pid":4711,
       "command":"python3 -m http.server 8765","title":"docs","started_at":"2026-05-18T12:00:00.000Z",
       "state":"running","activity":"listening","counts":false,
       "evidence":"no CPU for 2 h, listens on 127.0.0.1:8765, no connection since 18 May"},
      {"process_id":"p-0000000000002","session_id":"0190b2f0-6a1e-7abc-8def-0123456789ab",
       "session":"ended","pid":12,"command":"dd if=/dev/zero of=/dev/null",
       "started_at":"2026-05-20T11:57:00.000Z","state":"running","activity":"working","counts":true,
       "evidence":"0.9 cores","vouched_until":"2026-05-20T14:00:00.000Z",
       "stop_asked_at":"2026-05-20T11:59:59.000Z"},
      {"process_id":"p-0000000000003","session_id":"build-42","session":"open","pid":99,
       "command":"make \u001b[2J test","started_at":"2026-05-20T11:00:00.000Z","state":"exited",
       "activity":"exited","exit":{"kind":"exited","code":2}}])")
        .value()
        .as_array();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(ProcessTable, InAFileHoldsEverything) {
    const auto lines = lines_of(process_table(three_processes(), {}, now));
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_THAT(lines[0],
                ::testing::MatchesRegex("PROCESS +SESSION +ACTIVITY +AGE +PID +COMMAND +EVIDENCE"));
    EXPECT_THAT(lines[1], HasSubstr("no connection since 18 May"));
    EXPECT_THAT(lines[1], HasSubstr("docs: python3 -m http.server 8765"));
    EXPECT_THAT(lines[2], HasSubstr("0190b2f0-6a1e-7abc-8def-0123456789ab (ended)"));
    EXPECT_THAT(lines[2], HasSubstr("stopping, vouched for (ends in 2h), 0.9 cores"));
    EXPECT_THAT(lines[3], HasSubstr("exit 2"));
    EXPECT_THAT(lines[3], Not(HasSubstr("\x1b")));
}

TEST(ProcessTable, SaysWhatBecameOfAStop) {
    auto processes = three_processes();
    processes[0].as_object()["stopping"] = false;
    processes[0].as_object()["stop_failed"] = "process 4711 (agent): it owns an open session";
    processes[2].as_object()["stopping"] = true;
    const auto lines = lines_of(process_table(processes, {}, now));
    EXPECT_THAT(lines[1],
                HasSubstr("not stopped: process 4711 (agent): it owns an open session, "));
    EXPECT_THAT(lines[3], HasSubstr("stopping what it started, exit 2"));

    processes[2].as_object()["stopping"] = false;
    processes[2].as_object()["stop_failed"] = "process 7 (agent): it owns an open session";
    EXPECT_THAT(lines_of(process_table(processes, {}, now))[3],
                HasSubstr("exit 2, a stop had failed: process 7 (agent): it owns an open session"));

    processes[2].as_object()["stop_asked_at"] = "2027-01-15T08:00:00.000Z";
    EXPECT_THAT(lines_of(process_table(processes, {}, now))[3],
                HasSubstr("exit 2, left running: process 7 (agent): it owns an open session"));
}

TEST(ProcessTable, FitsEveryWidthAndKeepsIdAndActivity) {
    for (const std::size_t width : {40U, 60U, 80U, 120U, 200U}) {
        const Terminal terminal{.interactive = true, .colour = false, .width = width};
        for (const auto& text : {process_table(three_processes(), terminal, now),
                                 process_tree(three_processes(), terminal, now)}) {
            EXPECT_THAT(text, HasSubstr("p-0000000000001")) << width;
            EXPECT_THAT(text, HasSubstr("listening")) << width;
            for (const auto& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
        }
    }
}

TEST(ProcessTable, ShowsTheWholeEvidenceBesideOrBelow) {
    const auto at = [](std::size_t width) {
        return process_table(three_processes(),
                             {.interactive = true, .colour = false, .width = width}, now);
    };
    const auto wide = lines_of(at(200));
    EXPECT_EQ(wide.size(), 4U);
    EXPECT_THAT(wide[0], HasSubstr("EVIDENCE"));
    EXPECT_THAT(wide[1], HasSubstr("no connection since 18 May"));

    const auto usual = lines_of(at(80));
    ASSERT_EQ(usual.size(), 7U);
    EXPECT_THAT(usual[0], HasSubstr("SESSION"));
    EXPECT_THAT(usual[0], Not(HasSubstr("EVIDENCE")));
    EXPECT_THAT(usual[1], HasSubstr("p-0000000000001"));
    EXPECT_EQ(usual[2], "  no CPU for 2 h, listens on 127.0.0.1:8765, no connection since 18 May");
    EXPECT_EQ(usual[4], "  stopping, vouched for (ends in 2h), 0.9 cores");
    EXPECT_EQ(usual[6], "  exit 2");

    const auto narrow = lines_of(at(40));
    EXPECT_THAT(narrow[0], HasSubstr("COMMAND"));
    EXPECT_EQ(narrow[2], "  no CPU for 2 h, listens on");
    EXPECT_EQ(narrow[3], "  127.0.0.1:8765, no connection since 18");
}

TEST(ProcessTree, ShowsTheWholeEvidenceToo) {
    const auto lines = lines_of(
        process_tree(three_processes(), {.interactive = true, .colour = false, .width = 80}, now));
    ASSERT_EQ(lines.size(), 8U);
    EXPECT_EQ(lines[2],
              "    no CPU for 2 h, listens on 127.0.0.1:8765, no connection since 18 May");
}

TEST(ProcessTree, GroupsBySessionAndNamesOneThatHasEnded) {
    const auto lines = lines_of(process_tree(three_processes(), {}, now));
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[0], "build-42  2 processes");
    EXPECT_THAT(lines[1], HasSubstr("  p-0000000000001"));
    EXPECT_THAT(lines[2], HasSubstr("  p-0000000000003"));
    EXPECT_EQ(lines[3], "0190b2f0-6a1e-7abc-8def-0123456789ab  1 process; its session has ended");
    EXPECT_THAT(lines[4], HasSubstr("  p-0000000000002"));
}

TEST(ProcessTree, OfNothingIsNothing) {
    EXPECT_EQ(process_tree({}, {}, now), "");
    EXPECT_EQ(process_tree(JsonArray{1, nullptr}, {}, now), "");
}

}  // namespace
}  // namespace knell::cli
