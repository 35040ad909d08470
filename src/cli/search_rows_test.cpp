#include "cli/search_rows.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_width.hpp"

namespace knell::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const WallTime now = *parse_rfc3339("2026-05-20T12:00:00Z");

JsonArray two_results() {
    return wire::parse_json(R"([
      {"session_id":"build-42","source":"cli","title":"fix \u001b[2J it","number":7,"role":"tool",
       "tool_name":"bash","time":"2026-05-20T11:00:00.000Z",
       "snippet":"…cp: cannot write: no space left on Gerät sda1 while the nightly backup ran",
       "marks":[{"start":19,"length":13},{"start":36,"length":5}]},
      {"session_id":"chat","source":"gateway","key":"agent:main","number":1,"role":"user",
       "time":"2026-05-18T12:00:00.000Z","snippet":"space","marks":[{"start":-5,"length":99999999},
       {"start":"x"}, 3]}])")
        .value()
        .as_array();
}

TEST(SearchRows, InAFileAreTextAlone) {
    EXPECT_EQ(search_rows(two_results(), {}, now),
              "build-42 #7  tool (bash)  1h ago  fix ?[2J it\n"
              "    …cp: cannot write: no space left on Gerät sda1 while the nightly backup ran\n"
              "chat #1  user  2d ago  agent:main\n"
              "    space\n");
}

TEST(SearchRows, OnATerminalMarkTheWordsAndFit) {
    const Terminal terminal{.interactive = true, .colour = true, .width = 200};
    const auto rows = search_rows(two_results(), terminal, now);
    EXPECT_THAT(rows, HasSubstr("write: \x1b[1mno space left\x1b[0m on "
                                "\x1b[1mGerät\x1b[0m sda1"));
    for (const std::size_t width : {20U, 40U, 80U}) {
        std::istringstream lines(search_rows(two_results(), {true, false, width}, now));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(display_width(line), width) << line;
        }
    }
}

TEST(SearchRows, AMarkGoesOverTheEndOfALine) {
    const auto rows =
        search_rows(two_results(), {.interactive = true, .colour = true, .width = 32}, now);
    EXPECT_THAT(rows, HasSubstr("write: \x1b[1mno space\x1b[0m\n    \x1b[1mleft\x1b[0m on"));
}

TEST(SearchRows, MarksThatLieOutsideMarkNothingElse) {
    EXPECT_THAT(search_rows(two_results(), {}, now), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace knell::cli
