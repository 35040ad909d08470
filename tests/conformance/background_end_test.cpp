// What a session leaves running when it ends: named in its end, and on record from then on.

#include <csignal>

#include <gmock/gmock.h>

#include "background_story.hpp"

namespace knell::testing {
namespace {

using ::testing::IsEmpty;

class BackgroundEnd : public BackgroundStory {};
INSTANTIATE_TEST_SUITE_P(EveryStore, BackgroundEnd, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(BackgroundEnd, AnEndNamesWhatRunsOn) {
    journal().one(record_process("a", 7), at(5));
    journal().one(record_process("a", 8), at(5));
    journal().one(process_gone(8, exited(0)), at(6));
    const auto reply = journal().one(close("a"), at(7));
    const auto leftovers = shown("a").end->leftovers;
    ASSERT_EQ(leftovers.size(), 1U);
    EXPECT_EQ(leftovers[0].process_id, process_id(7));
    EXPECT_EQ(leftovers[0].fate, Fate::left);
    EXPECT_EQ(leftovers[0].found_by, "background process");
    EXPECT_EQ(leftovers[0].command, "sleep 9");
    EXPECT_EQ(std::get<ClosedReply>(*reply).end.leftovers, leftovers);
    EXPECT_EQ(StoreStory::told(EventType::session_end).front().end->leftovers, leftovers);
    EXPECT_FALSE(process(7).exit);
}

TEST_P(BackgroundEnd, ByPolicyItIsStoppedWithTheSession) {
    auto command = create("s", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command, at(0));
    journal().one(record_process("s", 7), at(5));
    const auto step = say(close("s"), at(7));
    const auto orders = effects_of<StopLeftovers>(step);
    ASSERT_EQ(orders.size(), 1U);
    ASSERT_EQ(orders[0].leftovers.size(), 1U);
    EXPECT_EQ(orders[0].leftovers[0].fate, Fate::stopping);
    EXPECT_EQ(orders[0].leftovers[0].process_id, process_id(7));
    auto settled = orders[0].leftovers;
    settled[0].fate = Fate::killed;
    journal().group({settle("s", 1, settled), process_gone(7, signaled(SIGKILL))}, at(9));
    EXPECT_EQ(shown("s").end->leftovers[0].fate, Fate::killed);
    EXPECT_TRUE(process(7).exit);
    EXPECT_EQ(process_events().size(), 2U);
}

TEST_P(BackgroundEnd, WhatACommandLeavesRunningComesOnRecord) {
    auto command = create("r", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command, at(0));
    journal().one(gone(300, exited(0)), at(9));
    const auto step = say(gone(300, exited(0), "r",
                               {leftover(7), leftover(8, Fate::gone), leftover(9, Fate::shared)}),
                          at(10));
    const auto leftovers = shown("r").end->leftovers;
    ASSERT_EQ(leftovers.size(), 3U);
    EXPECT_EQ(leftovers[0].process_id, process_id(7));
    EXPECT_TRUE(leftovers[1].process_id.empty());
    EXPECT_EQ(leftovers[2].process_id, process_id(9));
    EXPECT_EQ(process(7).origin, ProcessOrigin::leftover);
    EXPECT_EQ(process(7).started_at, at(0).wall) << "some time since its command was";
    EXPECT_EQ(process(7).argv, std::vector<std::string>{"sleep 9"});
    EXPECT_EQ(effects_of<WatchProcess>(step).size(), 2U);
    EXPECT_THAT(effects_of<OpenGate>(step), IsEmpty());
    const auto events = process_events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_LT(events[1].seq, StoreStory::told(EventType::session_end).front().seq);
    journal().one(process_gone(7, lost()), at(20));
    EXPECT_TRUE(process_events().back().after_end);
}

TEST_P(BackgroundEnd, WhatCouldNotBeStoppedComesOnRecord) {
    auto command = create("s", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command, at(0));
    auto over = close("s");
    over.leftovers = {leftover(7)};
    journal().one(over, at(5));
    EXPECT_THAT(process_events(), IsEmpty());
    journal().one(settle("s", 1, {leftover(7, Fate::left)}), at(9));
    EXPECT_EQ(shown("s").end->leftovers[0].process_id, process_id(7));
    ASSERT_EQ(process_events().size(), 1U);
    EXPECT_TRUE(process_events()[0].after_end);
}

TEST_P(BackgroundEnd, WhatCouldNotBeStoppedIsTheSessionsThatWasOpenedAgain) {
    auto command = create("s", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command, at(0));
    auto over = close("s");
    over.leftovers = {leftover(7)};
    journal().one(over, at(5));
    journal().one(resume("s"), at(6));
    EXPECT_EQ(status("s"), Status::idle);
    journal().one(settle("s", 1, {leftover(7, Fate::left)}), at(9));
    EXPECT_EQ(status("s"), Status::background);
    EXPECT_EQ(process(7).generation, 2U);
    EXPECT_FALSE(process_events().front().after_end);
}

TEST_P(BackgroundEnd, WhatIsAnothersIsNotStoppedForThisOne) {
    auto command = create("s", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command, at(0));
    journal().one(record_process("a", 7, ProcessOrigin::registered), at(1));
    auto over = close("s");
    over.leftovers = {leftover(7), leftover(8)};
    const auto step = say(over, at(5));
    const auto leftovers = shown("s").end->leftovers;
    ASSERT_EQ(leftovers.size(), 2U);
    EXPECT_EQ(leftovers[0].fate, Fate::shared);
    EXPECT_EQ(leftovers[0].process_id, process_id(7));
    EXPECT_EQ(leftovers[1].fate, Fate::stopping);
    EXPECT_EQ(process(7).session_id.text(), "a");
}

TEST_P(BackgroundEnd, LeftoversComeOnRecordWithinTheNodesLimitAlone) {
    journal().state.set_processes_max(2);
    auto command = create("r", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command, at(0));
    auto over = close("r");
    over.leftovers = {leftover(7), leftover(8), leftover(9)};
    journal().one(over, at(5));
    EXPECT_EQ(process_events().size(), 2U);
    EXPECT_TRUE(shown("r").end->leftovers[2].process_id.empty());
}

TEST_P(BackgroundEnd, LeftoversOfAGenerationThatWasTakenOverKeepTheNext) {
    auto command = create("r", process_owner(300));
    command.draft.leftovers = LeftoversPolicy::report;
    journal().one(command, at(0));
    // Its owner is gone, and somebody claims it while its end is on its way to the record.
    journal().group({gone(300, exited(0)), gone(300, exited(0), "r", {leftover(7)}), resume("r")},
                    at(5));
    EXPECT_FALSE(shown("r").end);
    EXPECT_EQ(status("r"), Status::background);
    EXPECT_EQ(process(7).session_id.text(), "r");
    EXPECT_EQ(process(7).generation, 1U);
}

}  // namespace
}  // namespace knell::testing
