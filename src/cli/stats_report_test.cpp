#include "cli/stats_report.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text_width.hpp"

namespace knell::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

JsonObject sample(std::string_view since) {
    return wire::parse_json(std::string(R"({"since":")") + std::string(since) + R"(T00:00:00.000Z",
        "until":"2026-11-19T13:00:00.000Z",
        "total":{"starts":30,"ends":28,"reasons":[{"reason":"completed","ends":20},
          {"reason":"signaled","ends":8}],"leaked":2,"leak_rate":0.0666,
          "input_tokens":1200000,"output_tokens":34000},
        "by_day":[
          {"day":"2026-11-17","source":"cli","starts":20,"input_tokens":1000000,"output_tokens":0},
          {"day":"2026-11-17","source":"gateway","starts":4,"input_tokens":0,"output_tokens":0},
          {"day":"2026-11-19","source":"cli","starts":6,"input_tokens":200000,"output_tokens":34000}]})")
        .value()
        .as_object();
}

TEST(StatsReport, IsASentenceAndCharts) {
    const auto report = stats_report(sample("2026-11-17"), {});
    EXPECT_THAT(report,
                HasSubstr("3 days to 2026-11-19 (UTC): 30 starts, 28 ends, 2 leaked (6.7 %), "
                          "1.2M tokens in, 34k out.\n"));
    EXPECT_THAT(report, HasSubstr("█ 24\n  2026-11-18 0\n  2026-11-19 █"));
    EXPECT_THAT(report, HasSubstr("  completed █"));
    EXPECT_THAT(report, HasSubstr("█ 26, 1.2M tokens\n  gateway ██"));
    EXPECT_THAT(report, HasSubstr("\nTokens by day\n"));
}

TEST(StatsReport, ManyDaysAreAddedUpByWeek) {
    const auto report = stats_report(sample("2026-10-10"), {});
    EXPECT_THAT(report, HasSubstr("Starts by week\n  2026-10-10 0\n  2026-10-17 0\n"));
    EXPECT_THAT(report, HasSubstr("  2026-11-14 █"));
}

TEST(StatsReport, FitsATerminal) {
    for (const std::size_t width : {40U, 80U, 200U}) {
        std::istringstream lines(stats_report(sample("2026-11-06"), {.width = width}));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(display_width(line), width) << line;
        }
    }
}

TEST(StatsReport, OfNothingIsTheSentence) {
    auto nothing = sample("2026-11-17");
    nothing["by_day"] = JsonArray{};
    EXPECT_THAT(stats_report(nothing, {}), Not(HasSubstr("Starts by")));
}

}  // namespace
}  // namespace knell::cli
