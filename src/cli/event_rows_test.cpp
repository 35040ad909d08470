#include "cli/event_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using ::testing::HasSubstr;

std::string table_of(std::string_view event) {
    const std::deque<Json> events{*wire::parse_json(event)};
    return event_table(events, Terminal{}, WallTime{});
}

TEST(EventRows, NameTheProcessThatStarted) {
    EXPECT_THAT(table_of(R"({"seq":4,"type":"process:start","session_id":"s","generation":1,
        "process":{"process_id":"p-1","state":"running","command":"make all"}})"),
                HasSubstr("p-1 make all"));
}

TEST(EventRows, SayHowAProcessEnded) {
    EXPECT_THAT(table_of(R"({"seq":5,"type":"process:exit","session_id":"s","generation":1,
        "process":{"process_id":"p-1","state":"exited","command":"make all",
        "exit":{"kind":"exited","code":3}}})"),
                HasSubstr("p-1 exit 3: make all"));
}

TEST(EventRows, SayHowACompressionWent) {
    EXPECT_THAT(table_of(R"({"seq":6,"type":"session:compress","session_id":"s","generation":1,
        "source":"gateway","outcome":"compressed","child_id":"c","provider":"near"})"),
                HasSubstr("goes on as c from a summary by near"));
    EXPECT_THAT(table_of(R"({"seq":7,"type":"session:compress","session_id":"s","generation":1,
        "outcome":"tail","child_id":"c","detail":"near: timed out after 4 s"})"),
                HasSubstr("goes on as c with its last messages: near: timed out after 4 s"));
    EXPECT_THAT(table_of(R"({"seq":8,"type":"session:compress","session_id":"s","generation":1,
        "outcome":"failed","detail":"near: timed out after 4 s"})"),
                HasSubstr("not compressed: near: timed out after 4 s"));
}

}  // namespace
}  // namespace knell::cli
