#include "markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Row row(std::string name, bool met) {
    return {.chapter = Chapter::sessions,
            .name = std::move(name),
            .what = "creates | durable",
            .unit = "/s",
            .figure = spread_of({900, 1'000, 1'100}),
            .target = ">= 950/s",
            .met = met};
}

TEST(BenchMarkdown, ShowsFigureSpreadTargetAndWhetherItIsMet) {
    Report report;
    report.add(row("create", true));

    const auto page = to_markdown({}, report, {});

    EXPECT_THAT(page, HasSubstr("creates \\| durable | 1,000/s (900 to 1,100) |"));
    EXPECT_THAT(page, HasSubstr("| >= 950/s | yes |"));
    EXPECT_THAT(page, HasSubstr("Targets met: 1. None missed."));
}

TEST(BenchMarkdown, NamesWhatWasMissedFirst) {
    Report report;
    report.add(row("create", false));

    const auto page = to_markdown({}, report, {});

    EXPECT_THAT(page, HasSubstr("Targets met: 0. Missed:"));
    EXPECT_LT(page.find("- `create`"), page.find("## Starts and ends"));
}

TEST(BenchMarkdown, ABenchmarkThatFailedSaysWhy) {
    Report report;
    report.add({.chapter = Chapter::gone,
                .name = "gone",
                .what = "owners go",
                .met = false,
                .note = "failed: no disk"});

    EXPECT_THAT(to_markdown({}, report, {}), HasSubstr("| owners go | failed: no disk |"));
}

TEST(BenchMarkdown, ARowThatATableShowsIsNotRepeated) {
    Report report;
    auto tabled = row("create", true);
    tabled.tabled = true;
    report.add(tabled);
    report.add_table({.chapter = Chapter::sessions,
                      .caption = "All of them",
                      .header = {"ends"},
                      .lines = {{"10,000"}}});

    const auto page = to_markdown({}, report, {});

    EXPECT_THAT(page, HasSubstr("All of them\n\n| ends |\n|---|\n| 10,000 |\n"));
    EXPECT_THAT(page, Not(HasSubstr("creates")));
}

TEST(BenchMarkdown, ChaptersWithoutFiguresAreLeftOut) {
    Report report;
    report.add(row("create", true));

    EXPECT_THAT(to_markdown({}, report, {}), Not(HasSubstr("## Growth")));
}

}  // namespace
}  // namespace knell::bench
