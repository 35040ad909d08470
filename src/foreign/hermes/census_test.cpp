#include "foreign/hermes/census.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::hermes {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr WallTime noon = from_millis(1'779'105'600'000);  // 2026-05-18T12:00:00Z

SessionRow row(std::string id, std::string source, std::string end_reason,
               std::int64_t messages = 8) {
    SessionRow row;
    row.id = std::move(id);
    row.source = std::move(source);
    row.started_at = noon;
    row.messages = messages;
    row.message_count = messages;
    if (!end_reason.empty()) row.ended_at = noon + 1h;
    row.end_reason = std::move(end_reason);
    return row;
}

std::optional<RowVerdict> judged(Verdict verdict) {
    return RowVerdict{verdict, "seen"};
}

TEST(Census, HasTheFiguresOfAProductionStore) {
    CensusCount count;
    const auto add = [&](int many, const std::string& reason) {
        for (int i = 0; i < many; ++i) {
            count.add(row(fmt::format("{}-{}", reason, i), "cli", reason),
                      reason.empty() ? judged(Verdict::dead) : std::nullopt);
        }
    };
    add(1275, "cron_complete");
    add(887, "");
    add(640, "recovered");
    add(229, "cli_close");
    add(17, "session_reset");
    add(1, "compression");

    const auto census = std::move(count).finish();

    EXPECT_EQ(census.all.count, 3049);
    EXPECT_EQ(census.all.open, 887);
    EXPECT_NEAR(leak_rate(census.all), 0.2909, 0.0001);
    EXPECT_THAT(census.reasons, ElementsAre(Pair("cli_close", 229), Pair("compression", 1),
                                            Pair("cron_complete", 1275), Pair("recovered", 640),
                                            Pair("session_reset", 17)));
    EXPECT_EQ(census.verdicts.at(static_cast<std::size_t>(Verdict::dead)), 887);
}

TEST(Census, CountsNoLivingSessionAsLeaked) {
    CensusCount count;
    count.add(row("a", "cli", ""), judged(Verdict::alive));
    count.add(row("b", "cli", ""), judged(Verdict::unknown));
    count.add(row("c", "cron", "cron_complete"), {});
    count.add(row("d", "cron", "cron_complete"), {});

    const auto census = std::move(count).finish();

    EXPECT_EQ(leak_rate(census.all), 0.25);
    EXPECT_EQ(leak_rate(census.sources.at("cli")), 0.5);
    EXPECT_EQ(leak_rate(census.sources.at("cron")), 0);
    EXPECT_EQ(leak_rate(Share{}), 0);
}

TEST(Census, SortsByHowMuchWasSaid) {
    CensusCount count;
    for (const auto messages : {0, 0, 1, 5, 6}) {
        count.add(row(fmt::format("s{}", messages), "cli", "cli_close", messages), {});
    }

    const auto census = std::move(count).finish();

    EXPECT_EQ(census.empty, 2);
    EXPECT_EQ(census.trivial, 2);
    EXPECT_EQ(census.substantial, 1);
    EXPECT_EQ(census.messages, 12);
}

TEST(Census, CountsByDayWhatStartedSince) {
    CensusCount count(noon);
    auto before = row("a", "cli", "");
    before.started_at = noon - 1s;
    count.add(before, judged(Verdict::dead));
    count.add(row("b", "cli", ""), judged(Verdict::dead));
    auto next_day = row("c", "cli", "cli_close");
    next_day.started_at = noon + 12h;
    count.add(next_day, {});

    const auto census = std::move(count).finish();

    ASSERT_THAT(census.days, SizeIs(2));
    EXPECT_EQ(census.days.at("2026-05-18").count, 1);
    EXPECT_EQ(leak_rate(census.days.at("2026-05-18")), 1);
    EXPECT_EQ(leak_rate(census.days.at("2026-05-19")), 0);
}

TEST(Census, NamesWhatDoesNotFitTogether) {
    auto orphan = row("orphan", "cli", "cli_close");
    orphan.parent_id = "nobody";
    auto early = row("early", "cli", "cli_close");
    early.parent_id = "parent";
    early.parent_is_there = true;
    early.parent_started_at = noon + 1s;
    auto lost = row("lost", "cli", "compression");
    auto goes_on = lost;
    goes_on.has_children = true;
    auto own = row("own", "cli", "cli_close");
    own.parent_id = "own";
    own.parent_is_there = true;
    CensusCount count;
    for (const auto& one : {orphan, early, lost, goes_on, own}) count.add(one, {});

    const auto census = std::move(count).finish();

    EXPECT_EQ(census.orphans, 1);
    EXPECT_EQ(census.broken_lineage, 3);
    EXPECT_THAT(census.broken_rows, SizeIs(4));
    EXPECT_EQ(lineage_fault(goes_on), "");
}

TEST(Census, CountsWhatARowSaysWrongly) {
    auto miscounted = row("a", "cli", "cli_close");
    miscounted.message_count = 7;
    auto backwards = row("b", "cli", "cli_close");
    backwards.ended_at = noon - 1s;
    auto finalized = row("c", "telegram", "");
    finalized.finalized = true;
    CensusCount count;
    count.add(miscounted, {});
    count.add(backwards, {});
    count.add(finalized, judged(Verdict::dead));

    const auto census = std::move(count).finish();

    EXPECT_EQ(census.count_mismatches, 1);
    EXPECT_EQ(census.ended_before_start, 1);
    EXPECT_EQ(census.finalized_open, 1);
}

TEST(Census, NamesTheLatestRowsAndCountsTheRest) {
    CensusCount count;
    const auto many = static_cast<int>(3 * census_rows_max);
    for (int i = 0; i < many; ++i) {
        auto one = row(fmt::format("s{}", i), "cli", "");
        one.started_at = noon + std::chrono::seconds{i};
        count.add(one, judged(Verdict::dead));
    }

    const auto census = std::move(count).finish();

    EXPECT_EQ(census.all.open, many);
    ASSERT_THAT(census.open_rows, SizeIs(census_rows_max));
    EXPECT_EQ(census.open_rows.front().id, fmt::format("s{}", many - 1));
}

}  // namespace
}  // namespace knell::hermes
