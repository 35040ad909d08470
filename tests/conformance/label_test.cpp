// What a person writes on a session, on every store.

#include "stores.hpp"

namespace knell::testing {
namespace {

class LabelStory : public StoreStory {
  protected:
    LabelStory() { journal().one(create("a"), at(0)); }
    static const LabelledReply& labelled(const Result<Reply>& reply) {
        return std::get<LabelledReply>(reply.value());
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, LabelStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(LabelStory, WhatIsNotGivenStays) {
    const auto first = journal().one(title("a", "Billing"), at(1));
    EXPECT_EQ(labelled(first).labels, (Labels{.title = "Billing", .pinned = false}));
    const auto second = journal().one(pin("a"), at(2));
    EXPECT_EQ(labelled(second).labels, (Labels{.title = "Billing", .pinned = true}));

    restart(at(3));

    EXPECT_EQ(shown("a").title, "Billing");
    EXPECT_TRUE(shown("a").pinned);
    const auto told_of = told(EventType::session_update);
    ASSERT_EQ(told_of.size(), 2U);
    EXPECT_EQ(told_of[1].labels, (Labels{.title = "Billing", .pinned = true}));
    EXPECT_EQ(told_of[1].time, at(2).wall);
}

TEST_P(LabelStory, CallsOfOneGroupBuildOnEachOther) {
    const auto replies =
        journal().group({create("b"), title("b", "one"), pin("b"), append("b", 1, {"hello"}),
                         title("b", "two"), pin("a"), pin("a", false)});

    for (const auto& reply : replies) EXPECT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(labelled(replies[4]).labels, (Labels{.title = "two", .pinned = true}));
    EXPECT_EQ(shown("b").title, "two");
    EXPECT_TRUE(shown("b").pinned);
    EXPECT_EQ(shown("b").tally.messages, 1);
    EXPECT_FALSE(shown("a").pinned);
    EXPECT_EQ(told(EventType::session_update).size(), 5U);
}

TEST_P(LabelStory, WhatIsSoAlreadyIsNotToldAgain) {
    journal().one(pin("a"), at(1));
    const auto again = journal().one(pin("a"), at(2));

    EXPECT_FALSE(labelled(again).changed);
    EXPECT_EQ(told(EventType::session_update).size(), 1U);
}

TEST_P(LabelStory, AnEndedSessionIsWrittenOnInTheSameGroup) {
    const auto replies = journal().group({close("a"), title("a", "after"), pin("a")}, at(5));

    EXPECT_EQ(labelled(replies[2]).labels, (Labels{.title = "after", .pinned = true}));
    ASSERT_TRUE(shown("a").end);
    EXPECT_EQ(shown("a").title, "after");
    journal().one(resume("a"), at(6));
    EXPECT_TRUE(shown("a").pinned) << "the next generation is the same session";
}

TEST_P(LabelStory, WhatIsWrittenOnAnEndedOneGoesWithItsNextGeneration) {
    journal().one(close("a"), at(1));

    const auto step = journal().step({title("a", "again"), resume("a")}, at(2));

    ASSERT_EQ(step.events.size(), 2U);
    EXPECT_EQ(step.events[1].type, EventType::session_start);
    EXPECT_EQ(step.events[1].title, "again");
}

TEST_P(LabelStory, ATitleUnfoldsAnEmptySessionThatSomebodyClosed) {
    journal().one(title("a", "kept"), at(1));
    journal().one(close("a"), at(2));

    EXPECT_EQ(fold_of(shown("a")), Fold::shown);
    const auto listed = reader().list({.limit = 10});
    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->sessions.size(), 1U);

    journal().one(title("a", ""), at(3));
    EXPECT_EQ(reader().list({.limit = 10})->sessions.size(), 0U);
}

TEST_P(LabelStory, OneThatIsNotThereIsNamed) {
    EXPECT_EQ(journal().one(pin("nobody"), at(1)).error().code, ErrorCode::not_found);
}

TEST_P(LabelStory, AnOpeningInTheSameGroupTellsOfTheNewTitle) {
    journal().one(create("b"), at(0));
    journal().one(close("b"), at(1));

    journal().group({title("b", "New"), resume("b")}, at(2));

    const auto starts = told(EventType::session_start);
    EXPECT_EQ(starts.back().session_id.text(), "b");
    EXPECT_EQ(starts.back().title, "New");
}

}  // namespace
}  // namespace knell::testing
