#include "cli/session_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_width.hpp"

namespace knell::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");

constexpr auto open = R"({"id":"01a1e04a-f2a2-7527-bba8-10e989f53217","status":"idle",
    "source":"cli","title":"claude","cwd":"/home/me/work/knell",
    "owner":{"kind":"process","pid":4242,"command":"claude"},
    "started_at":"2026-11-15T09:00:00.000Z","last_activity_at":"2026-11-15T11:55:00.000Z"})";
constexpr auto dead = R"json({"id":"01a1e04b-0000-7527-bba8-10e989f53217","status":"ended",
    "source":"cli","cwd":"/srv/very/long/path/to/some/project",
    "owner":{"kind":"process","pid":77,"command":"codex exec --fix everything there is"},
    "started_at":"2026-11-15T11:00:00.000Z","last_activity_at":"2026-11-15T11:30:00.000Z",
    "ended_at":"2026-11-15T11:40:00.000Z","reason":"signaled",
    "detail":"signal 9 (SIGKILL)"})json";

std::string table(std::size_t width, std::initializer_list<const char*> sessions,
                  std::vector<std::string> ids) {
    JsonArray rows;
    for (const auto* session : sessions) rows.push_back(*wire::parse_json(session));
    const Terminal terminal{.interactive = width > 0, .colour = false, .width = width};
    return session_table(rows, now,
                         {.terminal = terminal, .ids = std::move(ids), .home = "/home/me"})
        .render(terminal);
}

TEST(SessionTable, WithRoomHasEverything) {
    EXPECT_EQ(
        table(200, {open, dead}, {"01a1e04a", "01a1e04b"}),
        "ID        STATUS  END               AGE  ACTIVE  SOURCE  OWNER  DIR                    "
        "              WHAT\n"
        "01a1e04a  idle    -                 3h   5m      cli      4242  ~/work/knell           "
        "              claude\n"
        "01a1e04b  ended   signaled SIGKILL  1h   20m     cli        77  "
        "/srv/very/long/path/to/some/project  codex exec --fix everything there is\n");
}

TEST(SessionTable, At80ColumnsStatusReasonAgeDirectoryAndWhatItIsAreThere) {
    EXPECT_EQ(table(80, {open, dead}, {"01a1e04a", "01a1e04b"}),
              "ID        STATUS  END               AGE  ACTIVE  DIR            WHAT\n"
              "01a1e04a  idle    -                 3h   5m      ~/work/knell   claude\n"
              "01a1e04b  ended   signaled SIGKILL  1h   20m     …some/project  codex exec --fi…\n");
}

TEST(SessionTable, At40ColumnsTheReasonStandsForTheStatus) {
    EXPECT_EQ(table(40, {open, dead}, {"01a1e04a", "01a1e04b"}),
              "ID        STATUS    AGE  WHAT\n"
              "01a1e04a  idle      3h   claude\n"
              "01a1e04b  signaled  1h   codex exec --f…\n");
}

TEST(SessionTable, WithoutAnEndThereIsNoColumnForIt) {
    EXPECT_THAT(table(200, {open}, {}), AllOf(Not(HasSubstr("END")), HasSubstr("01a1e04a-f2a2-7")));
}

TEST(SessionTable, NoLineIsWiderThanTheTerminal) {
    for (std::size_t width = 36; width < 160; ++width) {
        const auto text = table(width, {open, dead}, {"01a1e04a-f2a2", "01a1e04b"});
        std::string_view rest = text;
        while (!rest.empty()) {
            const auto line = rest.substr(0, rest.find('\n'));
            EXPECT_LE(display_width(line), width) << line;
            rest.remove_prefix(line.size() + 1);
        }
        EXPECT_THAT(text, AllOf(HasSubstr("signaled"), HasSubstr("idle"))) << width;
    }
}

TEST(ShortEndText, SaysOfWhat) {
    const auto text = [](std::string_view session) {
        return short_end_text(wire::parse_json(session).value().as_object());
    };
    EXPECT_EQ(text(R"({"reason":"exited","detail":"exit 3"})"), "exited 3");
    EXPECT_EQ(text(R"({"reason":"exited","detail":"exit 143 after SIGTERM"})"), "exited 143");
    EXPECT_EQ(text(R"({"reason":"signaled","detail":"signal 64"})"), "signaled 64");
    EXPECT_EQ(text(R"({"reason":"signaled"})"), "signaled");
    EXPECT_EQ(text(R"({"reason":"completed","detail":"exit 0"})"), "completed");
    EXPECT_EQ(text("{}"), "");
}

TEST(ShortDirectory, IsRelativeToHome) {
    EXPECT_EQ(short_directory("/home/me/proj", "/home/me"), "~/proj");
    EXPECT_EQ(short_directory("/home/me", "/home/me/"), "~");
    EXPECT_EQ(short_directory("/home/merry", "/home/me"), "/home/merry");
    EXPECT_EQ(short_directory("/srv", ""), "/srv");
    EXPECT_EQ(short_directory("/srv", "/"), "/srv");
}

}  // namespace
}  // namespace knell::cli
