// What happened by day and source, and what a list leaves out: every store counts the same.

#include <gtest/gtest.h>

#include "random_history.hpp"
#include "store/archive.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

class Stats : public StoreStory {
  protected:
    knell::Stats stats(WallTime since = at(0).wall) {
        const auto found = archive_of(reader()).stats(since);
        EXPECT_TRUE(found) << found.error().message;
        return found.value_or(knell::Stats{});
    }
    /// Of all days.
    DayStats of(const std::string& source) {
        DayStats sum;
        for (const auto& [key, day] : stats().days) {
            if (key.second != source) continue;
            sum.starts += day.starts;
            sum.leaked += day.leaked;
            add_up(sum.input_tokens, day.input_tokens);
            add_up(sum.output_tokens, day.output_tokens);
            for (const auto& [reason, ends] : day.ends) sum.ends[reason] += ends;
        }
        return sum;
    }
    std::int64_t folded(const SessionQuery& query, std::int64_t most = 100) {
        return archive_of(reader()).count_folded(query, most).value();
    }
};
INSTANTIATE_TEST_SUITE_P(Stores, Stats, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Stats, StartsEndsAndTokensAreCounted) {
    journal().one(create("a", "cli"));
    journal().one(create("b", "gateway"));
    auto said = append("a", 1, {"one", "two"});
    said.messages[0].tokens = 5;
    said.messages[1].role = "assistant";
    said.messages[1].tokens = 7;
    journal().one(said, at(1));
    journal().one(close("a", 1, Reason::exited), at(2));
    journal().one(resume("a"), at(3));
    journal().one(close("b"), at(4));

    EXPECT_EQ(of("cli"), (DayStats{.starts = 2,
                                   .ends = {{Reason::exited, 1}},
                                   .input_tokens = 5,
                                   .output_tokens = 7,
                                   .leaked = 0}));
    EXPECT_EQ(of("gateway").ends, (std::map<Reason, std::int64_t>{{Reason::completed, 1}}));
    EXPECT_EQ(of("nobody"), DayStats{});
}

TEST_P(Stats, DaysAreApartAndOlderOnesAreLeftOut) {
    constexpr std::int64_t day = 24 * 3600;
    journal().one(create("a"), at(0));
    journal().one(create("b"), at(day));
    journal().one(create("c"), at(day + 1));
    const auto all = stats().days;
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all.begin()->second.starts, 1);
    EXPECT_EQ(std::next(all.begin())->second.starts, 2);
    EXPECT_EQ(std::next(all.begin())->first.first - all.begin()->first.first, 1);
    EXPECT_EQ(stats(at(day).wall).days.size(), 1U);
}

TEST_P(Stats, AnOwnerThatCannotBeCheckedIsALeakUntilItCan) {
    journal().one(create("a", process_owner(6)));
    journal().one(unknown(6), at(1));
    EXPECT_EQ(of("cli").leaked, 1);
    journal().one(alive(6), at(2));
    EXPECT_EQ(of("cli").leaked, 0);
}

TEST_P(Stats, AGroupThatFailedIsNotCounted) {
    journal().one(create("a"));
    Batch impossible;
    Session taken;
    taken.id = SessionId("a");
    taken.ordinal = 9;
    impossible.changes.emplace_back(Opened{.session = taken, .reaper = {}});
    EXPECT_FALSE(store().commit(impossible));
    journal().one(create("b"));
    EXPECT_EQ(of("cli").starts, 2);
}

TEST_P(Stats, TokensThatDoNotFitStayAtTheHighest) {
    journal().one(create("a"));
    for (int i = 0; i < 2; ++i) {
        auto said = append("a", 1, {"one"});
        said.messages[0].tokens = INT64_MAX - 1;
        journal().one(said);
    }
    EXPECT_EQ(of("cli").input_tokens, INT64_MAX);
}

TEST_P(Stats, FoldedOnesAreCountedByTheFiltersOfTheList) {
    journal().one(create("shown"));
    for (int i = 0; i < 3; ++i) journal().one(create("sub" + std::to_string(i), "subagent"));
    journal().one(create("empty"));
    journal().one(close("empty"));
    journal().one(close("sub0"));
    EXPECT_EQ(folded({}), 4) << "three of a machine, one empty";
    EXPECT_EQ(folded({}, 2), 2) << "and no more";
    EXPECT_EQ(folded({.ended = false}), 2);
    EXPECT_EQ(folded({.ended = true}), 1) << "who asks for ended ones sees the empty one";
    EXPECT_EQ(folded({.status = Status::ended}), 1);
    EXPECT_EQ(folded({.status = Status::idle}), 2);
    EXPECT_EQ(folded({.status = Status::running}), 0);
    EXPECT_EQ(folded({.all = true}), 0);
    EXPECT_EQ(folded({.source = "subagent"}), 0);
    EXPECT_EQ(folded({.status = Status::idle, .ended = true}), 0);
}

class ArchiveHistories : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ArchiveHistories, ::testing::Range(1U, 9U));

TEST_P(ArchiveHistories, CountTheSameInEveryStore) {
    const auto memory = store_kinds().at(0).make();
    const auto sqlite = store_kinds().at(1).make();
    RandomHistory history(GetParam());
    for (int number = 0; number < 30 && !HasFailure(); ++number) {
        SCOPED_TRACE("batch " + std::to_string(number));
        const auto batch = history.next();
        ASSERT_TRUE(memory->store().commit(batch));
        ASSERT_TRUE(sqlite->store().commit(batch));
        if (history.one_in(5)) sqlite->reopen();
        const auto one = *memory->store().open_reader();
        const auto other = *sqlite->store().open_reader();
        const auto since = from_millis(1'800'000'000'000 + history.below(20'000'000));
        EXPECT_EQ(archive_of(*one).stats(since).value(), archive_of(*other).stats(since).value());
        const bool is_empty = memory->store().heads().value().ordinal == 0;
        for (int question = 0; question < 5 && !is_empty; ++question) {
            auto query = history.session_query();
            query.before.reset();
            query.live_at.reset();
            EXPECT_EQ(archive_of(*one).count_folded(query, 10'000).value(),
                      archive_of(*other).count_folded(query, 10'000).value());
        }
    }
}

}  // namespace
}  // namespace knell::testing
