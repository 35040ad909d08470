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

/// A session whose owner runs that, which is called so, and is opened again like this.
Create running(std::string id, const std::string& command, std::string title) {
    auto opened = create(std::move(id));
    opened.draft.owner.command = command;
    opened.draft.title = std::move(title);
    opened.draft.cwd = "/srv/first";
    return opened;
}
Resume running_again(std::string id, const std::string& command, std::string title,
                     bool takeover = false) {
    auto opened = resume(std::move(id), takeover);
    opened.owner.command = command;
    opened.title = std::move(title);
    opened.cwd = "/srv/second";
    return opened;
}

TEST_P(LabelStory, TheNextGenerationHasItsOwnTitleAndDirectory) {
    journal().one(running("b", "make", "Build"), at(0));
    journal().one(close("b"), at(1));
    journal().one(running_again("b", "make test", "Tests"), at(2));
    journal().one(running_again("b", "agent", "Agent", /*takeover=*/true), at(3));
    restart(at(4));
    journal().one(close("b"), at(5));

    EXPECT_EQ(shown("b").title, "Agent");
    EXPECT_EQ(shown("b").cwd, "/srv/second");
    const auto starts = told(EventType::session_start);
    const auto ends = told(EventType::session_end);
    ASSERT_EQ(starts.size(), 4U);
    ASSERT_EQ(ends.size(), 3U);
    for (std::size_t life = 0; life < ends.size(); ++life) {
        EXPECT_EQ(starts[life + 1].title, ends[life].title);
        EXPECT_EQ(starts[life + 1].cwd, ends[life].cwd);
    }
    EXPECT_EQ(ends[0].title + ends[0].cwd, "Build/srv/first");
    EXPECT_EQ(ends[1].title + ends[1].cwd, "Tests/srv/second");
    EXPECT_EQ(ends[2].title + ends[2].cwd, "Agent/srv/second");
}

TEST_P(LabelStory, ANextGenerationThatSaysNothingIsCalledAsBefore) {
    journal().one(running("b", "make", "Build"), at(0));
    journal().one(close("b"), at(1));
    journal().one(resume("b"), at(2));

    EXPECT_EQ(shown("b").title, "Build");
    EXPECT_EQ(shown("b").cwd, "/srv/first");
    EXPECT_EQ(told(EventType::session_start).back().cwd, "/srv/first");
}

TEST_P(LabelStory, TheNameOfACommandFollowsTheCommand) {
    journal().one(running("b", "make", "make"), at(0));
    journal().one(close("b"), at(1));
    journal().one(running_again("b", "agent", "agent"), at(2));
    EXPECT_EQ(shown("b").title, "agent");

    journal().one(running_again("b", "bash", "bash", /*takeover=*/true), at(3));
    EXPECT_EQ(shown("b").title, "bash");
    EXPECT_EQ(told(EventType::session_start).back().title, "bash");
}

TEST_P(LabelStory, TheNameOfACommandIsNotPutOverATitleThatSomebodyGave) {
    journal().one(running("b", "make", "make"), at(0));
    journal().one(title("b", "Billing"), at(1));
    journal().one(running_again("b", "agent", "agent", /*takeover=*/true), at(2));
    EXPECT_EQ(shown("b").title, "Billing");

    journal().one(close("b"), at(3));
    journal().one(running_again("b", "bash", "bash"), at(4));
    EXPECT_EQ(shown("b").title, "Billing");
    EXPECT_EQ(told(EventType::session_start).back().title, "Billing");

    journal().group({title("b", ""), close("b"), running_again("b", "bash", "bash")}, at(5));
    EXPECT_EQ(shown("b").title, "bash") << "it was taken away";
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
