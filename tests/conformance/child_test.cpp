// A child goes on with what was said in its parent: a branch, or a compression.

#include "background_story.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class ChildStory : public BackgroundStory {
  protected:
    ChildStory() {
        auto opened = create("p", process_owner(200));
        opened.draft.key = "k";
        opened.draft.title = "the plan";
        opened.draft.model = "m";
        opened.draft.meta = R"({"a":1})";
        journal().one(std::move(opened), at(0));
        journal().one(append("p", 1, {"one", "two", "three"}), at(1));
    }
    std::vector<std::string> said(const std::string& id) {
        std::vector<std::string> contents;
        const auto page = reader().messages({.session = shown(id).ordinal, .limit = 100});
        for (const auto& message : page->messages) contents.push_back(message.content);
        return contents;
    }
};

INSTANTIATE_TEST_SUITE_P(Stores, ChildStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(ChildStory, ABranchHasAllThatWasSaidAndTheKey) {
    const auto reply = journal().one(branch("p", 1, "c"), at(5));
    ASSERT_TRUE(reply) << reply.error().message;
    const auto& branched = std::get<BranchedReply>(*reply);
    EXPECT_EQ(branched.child.session_id.text(), "c");
    ASSERT_TRUE(branched.parent);
    EXPECT_EQ(branched.parent->end.reason, Reason::branched);

    const auto child = shown("c");
    EXPECT_EQ(child.parent_id.text(), "p");
    EXPECT_EQ(child.relation, Relation::branch);
    EXPECT_EQ(child.key, "k");
    EXPECT_EQ(child.title, "the plan");
    EXPECT_EQ(child.model, "m");
    EXPECT_EQ(child.meta, R"({"a":1})");
    EXPECT_EQ(child.owner.process, process_owner(200).process);
    EXPECT_EQ(child.tally, shown("p").tally);
    EXPECT_EQ(said("c"), (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(said("p"), said("c")) << "the parent's stay";
    EXPECT_EQ(journal().state.find_by_key("k")->id().text(), "c");
    journal().one(append("c", 1, {"four"}), at(6));
    EXPECT_EQ(said("c").size(), 4U);
}

TEST_P(ChildStory, ABranchOfOneThatGoesOnLeavesItTheKey) {
    const auto reply = journal().one(branch("p", 1, "c", /*keep_open=*/true), at(5));
    ASSERT_TRUE(reply);
    EXPECT_FALSE(std::get<BranchedReply>(*reply).parent);
    EXPECT_FALSE(shown("p").end);
    EXPECT_EQ(shown("c").key, "");
    EXPECT_EQ(journal().state.find_by_key("k")->id().text(), "p");
}

TEST_P(ChildStory, AStaleOwnerMayDoNeither) {
    ASSERT_TRUE(journal().one(resume("p", /*takeover=*/true), at(4)));
    EXPECT_EQ(refusal(journal().one(branch("p", 1, "c"), at(5))).code, ErrorCode::fenced);
    EXPECT_EQ(refusal(journal().one(compress("p", 1, "c", "s", 3), at(5))).code, ErrorCode::fenced);
    EXPECT_EQ(refusal(journal().one(branch("none", 1, "c"), at(5))).code, ErrorCode::not_found);
    EXPECT_FALSE(shown("p").end);
}

TEST_P(ChildStory, ACompressionLosesNothingThatWasSaidMeanwhile) {
    // The summary is of the first two.
    const auto reply = journal().one(compress("p", 1, "c", "one and two", 2), at(5));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(std::get<CompressedReply>(*reply).outcome, CompressOutcome::compressed);

    EXPECT_EQ(said("c"), (std::vector<std::string>{"one and two", "three"}));
    EXPECT_EQ(said("p").size(), 3U);
    const auto child = shown("c");
    EXPECT_EQ(child.relation, Relation::compression);
    EXPECT_EQ(child.tally, (Tally{2, 3, 0}));
    EXPECT_FALSE(child.summary_lost);
    EXPECT_EQ(shown("p").end->reason, Reason::compression);
    EXPECT_EQ(shown("p").successor_id.text(), "c");

    const auto late = refusal(journal().one(append("p", 1, {"late"}), at(6)));
    EXPECT_EQ(late.code, ErrorCode::ended);
    ASSERT_TRUE(std::holds_alternative<EndedAs>(late.facts));
    EXPECT_EQ(std::get<EndedAs>(late.facts).successor.text(), "c");

    const auto told = StoreStory::told(EventType::session_compress);
    ASSERT_EQ(told.size(), 1U);
    ASSERT_TRUE(told[0].compression);
    EXPECT_EQ(told[0].compression->outcome, CompressOutcome::compressed);
    EXPECT_EQ(told[0].compression->child.text(), "c");
    EXPECT_EQ(told[0].compression->provider, "short");
    const auto routed = journal().one(route("k", "x", 200), at(7));
    ASSERT_TRUE(routed);
    EXPECT_EQ(std::get<RoutedReply>(*routed).session.session_id.text(), "c");
}

TEST_P(ChildStory, WithoutASummaryTheLastMessagesGoOn) {
    auto tail = compress("p", 1, "c", "", 2);
    tail.why_no_summary = "nobody answered";
    ASSERT_TRUE(journal().one(std::move(tail), at(5)));
    EXPECT_EQ(said("c"), std::vector<std::string>{"three"});
    EXPECT_TRUE(shown("c").summary_lost);
    EXPECT_EQ(StoreStory::told(EventType::session_compress).at(0).compression->outcome,
              CompressOutcome::tail);
}

TEST_P(ChildStory, AFailedCompressionIsToldAndChangesNothing) {
    journal().one(CompressionFailed{SessionId("p"), 1, "short: timed out"}, at(5));
    const auto told = StoreStory::told(EventType::session_compress);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].compression->outcome, CompressOutcome::failed);
    EXPECT_EQ(told[0].detail, "short: timed out");
    EXPECT_FALSE(shown("p").end);
    journal().one(CompressionFailed{SessionId("p"), 7, "late"}, at(6));
    EXPECT_EQ(StoreStory::told(EventType::session_compress).size(), 1U) << "another generation's";
}

TEST_P(ChildStory, WhatRunsGoesOnInTheChild) {
    journal().one(record_process("p", 7), at(2));
    ASSERT_TRUE(journal().one(compress("p", 1, "c", "all", 3), at(5)));
    EXPECT_EQ(process(7).session_id.text(), "c");
    EXPECT_EQ(shown("p").end->leftovers.at(0).fate, Fate::handed_over);
    journal().tick(at(6));
    EXPECT_EQ(status("c"), Status::background);
    ASSERT_TRUE(journal().one(branch("c", 1, "d", /*keep_open=*/true), at(7)));
    EXPECT_EQ(process(7).session_id.text(), "c") << "it goes on, and so does what it runs";
}

/// The command is not over: its conversation goes on.
TEST_P(ChildStory, WhatRunsGoesOnAlsoWhereLeftoversAreStopped) {
    auto opened = create("s", process_owner(300));
    opened.draft.leftovers = LeftoversPolicy::stop;
    journal().one(std::move(opened), at(2));
    journal().one(append("s", 1, {"one", "two"}), at(2));
    journal().one(record_process("s", 7), at(3));
    journal().one(vouch(7, at(9000).wall), at(3));
    auto step = say(compress("s", 1, "c", "all", 2), at(5));
    EXPECT_EQ(shown("s").end->leftovers.at(0).fate, Fate::handed_over);
    EXPECT_TRUE(effects_of<StopLeftovers>(step).empty());

    step = say(branch("c", 1, "d"), at(6));
    EXPECT_EQ(shown("c").end->leftovers.at(0).fate, Fate::handed_over);
    EXPECT_TRUE(effects_of<StopLeftovers>(step).empty());
    EXPECT_EQ(process(7).session_id.text(), "d");

    step = journal().step({gone(300, exited(0), "d", {})}, at(7));
    EXPECT_EQ(shown("d").end->leftovers.at(0).fate, Fate::stopping) << "now it is over";
    EXPECT_EQ(effects_of<StopLeftovers>(step).size(), 1U);
}

TEST_P(ChildStory, TheChildOfOneWhoseKeyWasTakenDoesNotTakeItBack) {
    auto second = create("q", process_owner(201));
    second.draft.key = "k";
    journal().one(std::move(second), at(2));
    ASSERT_TRUE(shown("p").key_taken);
    ASSERT_TRUE(journal().one(compress("p", 1, "c", "all", 3), at(3)));
    ASSERT_TRUE(journal().one(branch("c", 1, "d"), at(4)));
    EXPECT_TRUE(shown("c").key_taken && shown("d").key_taken);
    EXPECT_EQ(journal().state.find_by_key("k")->id().text(), "q");
    restart(at(5));
    journal().one(close("q"), at(6));
    const auto next = journal().one(route("k", "e"), at(7));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(std::get<RoutedReply>(*next).session.session_id.text(), "e");
}

TEST_P(ChildStory, ATurnGoesOnInWhatReplacesItsSession) {
    journal().state.set_reset_policies(idle_policy(10min));
    journal().one(turn("p", 1, true), at(2));
    const auto reply = journal().one(compress("p", 1, "c", "all", 3), at(5));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(std::get<CompressedReply>(*reply).child.status, Status::running);
    EXPECT_EQ(status("c"), Status::running);
    EXPECT_EQ(StoreStory::told(EventType::agent_start).back().session_id.text(), "c");
    EXPECT_EQ(StoreStory::told(EventType::agent_end).back().session_id.text(), "p");
    journal().tick(at(5000));
    EXPECT_FALSE(shown("c").end) << "no session is reset during a turn";

    ASSERT_TRUE(journal().one(branch("c", 1, "d"), at(5001)));
    EXPECT_EQ(status("d"), Status::running);
    ASSERT_TRUE(journal().one(branch("d", 1, "e", /*keep_open=*/true), at(5002)));
    EXPECT_EQ(status("e"), Status::idle) << "the turn is its parent's, which goes on";
    ASSERT_TRUE(journal().one(turn("d", 1, false), at(5003)));
    journal().tick(at(5603));
    EXPECT_EQ(shown("d").end->reason, Reason::idle_expiry);
}

TEST_P(ChildStory, ATurnWhoseClientIsAwayHoldsAHostedChild) {
    auto opened = create("h", hosted_owner(60s));
    journal().one(std::move(opened), at(6));
    journal().one(append("h", 1, {"one"}), at(7));
    auto begun = turn("h", 1, true);
    begun.client = ClientId{7};
    begun.window = 3600s;
    journal().one(std::move(begun), at(8));
    ASSERT_TRUE(journal().one(compress("h", 1, "c", "all", 1), at(9)));
    journal().tick(at(9 + 3599));
    EXPECT_FALSE(shown("c").end);
    journal().tick(at(9 + 3602));
    EXPECT_EQ(status("c"), Status::stalled);
    journal().tick(at(9 + 3602 + 62));
    EXPECT_TRUE(shown("c").end) << "nobody said that it was over";
}

TEST_P(ChildStory, OneThatNobodyAskedForWaitsForTheEndOfATurn) {
    journal().one(turn("p", 1, true), at(2));
    auto by_itself = compress("p", 1, "c", "all", 3);
    by_itself.between_turns = true;
    EXPECT_EQ(refusal(journal().one(by_itself, at(3))).code, ErrorCode::blocked);
    EXPECT_FALSE(shown("p").end);
    journal().one(turn("p", 1, false), at(4));
    EXPECT_TRUE(journal().one(by_itself, at(5)));
}

TEST_P(ChildStory, WhatAPersonWantedHoldsForTheChild) {
    journal().one(Label{SessionId("p"), std::nullopt, true}, at(2));
    journal().one(suspend("k", "stuck"), at(3));
    ASSERT_TRUE(journal().one(compress("p", 1, "c", "all", 3), at(5)));
    EXPECT_TRUE(shown("c").pinned);
    const auto routed = journal().one(route("k", "x", 200), at(6));
    ASSERT_TRUE(routed);
    ASSERT_TRUE(std::get<RoutedReply>(*routed).auto_reset);
    EXPECT_EQ(std::get<RoutedReply>(*routed).auto_reset->reason, "suspended");
}

TEST_P(ChildStory, WhoResetsWhatWasReplacedIsToldWhatGoesOn) {
    ASSERT_TRUE(journal().one(compress("p", 1, "c", "all", 3), at(5)));
    Reset by_id;
    by_id.name.session_id = SessionId("p");
    const auto error = refusal(journal().one(by_id, at(6)));
    EXPECT_EQ(error.code, ErrorCode::ended);
    EXPECT_EQ(std::get<EndedAs>(error.facts).successor.text(), "c");
    Suspend also;
    also.name.session_id = SessionId("p");
    EXPECT_EQ(refusal(journal().one(also, at(6))).code, ErrorCode::ended);
    EXPECT_FALSE(shown("c").end);
}

TEST_P(ChildStory, TheIdleTimeIsThatOfTheConversation) {
    journal().state.set_reset_policies(idle_policy(10min));
    ASSERT_TRUE(journal().one(compress("p", 1, "c", "all", 3), at(500)));
    journal().tick(at(600));
    EXPECT_FALSE(shown("c").end);
    journal().tick(at(601));
    EXPECT_EQ(shown("c").end->reason, Reason::idle_expiry);
}

}  // namespace
}  // namespace knell::testing
