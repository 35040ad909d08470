// Which sessions ended lately, and whether anything changed at all, on every store.

#include "core/limits.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

class EndedLatelyStory : public StoreStory {
  protected:
    /// "c@9" for session c whose end was told at 9 s.
    std::vector<std::string> ended(std::int64_t since, std::size_t limit = 100) {
        const auto found = reader().ended_lately(at(since).wall, limit);
        EXPECT_TRUE(found) << found.error().message;
        std::vector<std::string> names;
        for (const auto& [session, told_at] : *found) {
            EXPECT_TRUE(session.end);
            const auto told =
                std::chrono::duration_cast<std::chrono::seconds>(told_at - at(0).wall);
            names.push_back(session.id.text() + "@" + std::to_string(told.count()));
        }
        return names;
    }
    std::int64_t version() {
        const auto version = reader().data_version();
        EXPECT_TRUE(version) << version.error().message;
        return version.value_or(-1);
    }

    using Names = std::vector<std::string>;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, EndedLatelyStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(EndedLatelyStory, TheLastToldComesFirst) {
    journal().group({create("a"), create("b"), create("c"), create("open")}, at(0));
    journal().one(close("c"), at(3));
    journal().one(close("a"), at(5));
    journal().one(pin("open"), at(6));
    journal().one(close("b"), at(7));

    EXPECT_EQ(ended(0), (Names{"b@7", "a@5", "c@3"}));
    EXPECT_EQ(ended(5), (Names{"b@7", "a@5"}));
    EXPECT_EQ(ended(8), Names{});
    EXPECT_EQ(ended(0, 1), Names{"b@7"});
    EXPECT_EQ(ended(0, 0), Names{});
}

TEST_P(EndedLatelyStory, OneThatWasOpenedAgainIsNotEnded) {
    journal().one(create("a"), at(0));
    journal().one(close("a"), at(1));
    journal().one(resume("a"), at(2));
    EXPECT_EQ(ended(0), Names{});

    journal().one(close("a"), at(3));
    EXPECT_EQ(ended(0), Names{"a@3"}) << "once, by its last end";
}

TEST_P(EndedLatelyStory, NothingHasEndedInAnEmptyStore) {
    EXPECT_EQ(ended(0), Names{});
}

TEST_P(EndedLatelyStory, TheVersionTellsThatSomethingWasCommitted) {
    const auto before = version();
    EXPECT_EQ(version(), before);

    journal().one(create("a"), at(0));
    const auto created = version();
    EXPECT_NE(created, before);
    EXPECT_EQ(shown("a").id.text(), "a");
    EXPECT_EQ(version(), created) << "reading changes nothing";

    journal().one(append("a", 1, {"hello"}), at(1));
    EXPECT_NE(version(), created);
}

class OneMoment : public ::testing::TestWithParam<StoreKind> {};
INSTANTIATE_TEST_SUITE_P(EveryStore, OneMoment, ::testing::ValuesIn(store_kinds_on_disk()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(OneMoment, WhatIsCommittedMeanwhileIsNotSeen) {
    const auto under_test = GetParam().make();
    JournalOnStore journal(under_test->store());
    journal.one(create("a"), at(0));
    const auto reader = std::move(*under_test->store().open_reader());

    const auto read = reader->at_one_moment([&]() -> Result<void> {
        EXPECT_EQ(reader->ended_lately(at(0).wall, 10)->size(), 0U);
        journal.one(close("a"), at(1));
        EXPECT_EQ(reader->list({.ended = false, .limit = 10})->sessions.size(), 1U);
        return fail(ErrorCode::storage, "as it was");
    });

    EXPECT_EQ(read.error().message, "as it was");
    EXPECT_EQ(reader->list({.ended = false, .limit = 10})->sessions.size(), 0U);
    EXPECT_EQ(reader->ended_lately(at(0).wall, 10)->size(), 1U);
}

}  // namespace
}  // namespace knell::testing
