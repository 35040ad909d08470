// A group on a store that fails: what is answered, what is left in memory, what is tried again.
// tests/conformance/failing_disk_test does the same on SQLite.

#include "journal/journal.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/commands.hpp"
#include "testing/failing_store.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using testing::append;
using testing::at;
using testing::close;
using testing::create;
using testing::lease_owner;
using Call = testing::FailingStore::Call;

class JournalTrial : public ::testing::Test {
  protected:
    Journal::Step commit(std::vector<Input> inputs, Now now = at(0)) {
        return journal_.commit(std::move(inputs), now);
    }
    void recover() {
        const auto recovered = journal_.recover(at(0), "boot-1");
        ASSERT_TRUE(recovered) << recovered.error().message;
    }
    static Create child_of(const std::string& parent, const std::string& id) {
        auto child = create(id);
        child.draft.parent_id = SessionId(parent);
        return child;
    }
    static void expect_refused(const Result<Reply>& reply, ErrorCode code = ErrorCode::storage) {
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, code);
    }

    testing::FailingStore store_;
    State state_;
    Journal journal_{state_, store_};
};

TEST_F(JournalTrial, CallsOfToolsThatTheStoreRefusesAreNotCounted) {
    recover();
    commit({create("a")});
    const ToolReport failed{.call = {.tool = "Bash"}, .ok = false};
    const ReportTools report{
        .session_id = SessionId("a"), .generation = 1, .reports = {{failed}, {failed}}};
    commit({report});
    store_.refused = {Call::commit};

    // The third in a row: agent:stuck cannot be put on record.
    const auto step = commit({report});

    EXPECT_TRUE(step.failed);
    EXPECT_EQ(step.replies[0].error().code, ErrorCode::storage);
    EXPECT_EQ(journal_.counts().tools.reports, 2U);
    EXPECT_EQ(state_.guards().find(1)->errors, 2U);
    store_.refused.clear();
    const auto again = commit({report});
    EXPECT_EQ(std::get<ToolsReportedReply>(*again.replies[0]).nudges.size(), 1U);
    EXPECT_EQ(state_.guards().find(1)->errors, 4U);
    EXPECT_EQ(journal_.counts().tools.reports, 4U);
}

TEST_F(JournalTrial, WhoReportsIsAliveWhateverTheStoreSays) {
    recover();
    commit({create("a", testing::lease_owner()), create("b", testing::lease_owner()),
            create("c", testing::lease_owner())});
    store_.refused = {Call::commit};
    const ToolReport failed{.call = {.tool = "Bash"}, .ok = false};
    const ReportTools of_one{
        .session_id = SessionId("a"), .generation = 1, .reports = {{failed}, {failed}, {failed}}};
    const ReportTools of_many{
        .session_id = {},
        .generation = 0,
        .reports = {{failed, SessionId("b"), 1}, {failed, SessionId("c"), 1}}};
    const CheckTool check{.session_id = SessionId("b"), .generation = 1, .call = {.tool = "Bash"}};

    commit({of_one, of_many, check}, at(40));
    // The first of a group fails; the others stand behind it.
    commit({create("d"), of_one, of_many, check}, at(80));
    store_.refused.clear();
    commit({}, at(100));

    for (const auto* id : {"a", "b", "c"}) {
        EXPECT_NE(state_.find(SessionId(id)), nullptr) << id;
    }
}

TEST_F(JournalTrial, NothingIsAcknowledgedThatTheStoreRefuses) {
    recover();
    store_.refused = {Call::commit};

    const auto step = commit({create("a"), append("a", 1, {"x"})});

    EXPECT_TRUE(step.failed);
    EXPECT_EQ(step.why_failed, "the disk failed");
    for (const auto& reply : step.replies) expect_refused(reply);
    EXPECT_TRUE(step.effects.empty()) << "nobody may be watched for a session that is not there";
    EXPECT_TRUE(step.events.empty());
    EXPECT_EQ(state_.open_count(), 0U);
    EXPECT_EQ(journal_.counts().failures, 1U);

    store_.refused = {};
    const auto again = commit({create("a")});
    ASSERT_EQ(again.events.size(), 1U);
    EXPECT_EQ(again.events.front().seq, 1) << "the numbers were given back";
}

TEST_F(JournalTrial, NobodyIsLookedForWhoseOnlySessionTheStoreRefused) {
    recover();
    store_.refused = {Call::commit};
    ASSERT_TRUE(commit({create("a")}).failed);

    const auto step = commit({Survey{}});

    ASSERT_TRUE(step.replies.front());
    EXPECT_TRUE(std::get<SurveyReply>(*step.replies.front()).owners.empty());
}

TEST_F(JournalTrial, ARowThatCannotBeReadFailsTheGroupUnwritten) {
    recover();
    store_.refused = {Call::find};

    const auto step = commit({create("a"), close("b"), create("c")});

    ASSERT_EQ(step.replies.size(), 3U);
    for (const auto& reply : step.replies) expect_refused(reply);
    EXPECT_EQ(store_.commits, 0);
    EXPECT_EQ(state_.open_count(), 0U);
}

TEST_F(JournalTrial, AParentThatCannotBeReadFailsTheGroupUnwritten) {
    recover();
    auto child = child_of("parent", "child");
    commit({create("child")});
    commit({close("child")});
    const auto before = store_.commits;
    // Its own row is not asked for: only that of the parent is.
    child.draft.id = SessionId("fresh");
    commit({create("fresh")});
    store_.refused = {Call::find};

    const auto step = commit({child});

    ASSERT_EQ(step.replies.size(), 1U);
    expect_refused(step.replies.front());
    EXPECT_EQ(store_.commits, before + 1);
}

TEST_F(JournalTrial, ASessionCannotComeOutOfItself) {
    recover();
    commit({child_of("a", "b")});

    const auto step = commit({child_of("b", "a")});

    expect_refused(step.replies.front(), ErrorCode::invalid_params);
}

TEST_F(JournalTrial, WhatRestsOnAnEndThatIsNotWrittenWaitsForTheNextTransaction) {
    recover();
    commit({create("parent"), create("closed")});
    const auto before = store_.commits;

    // The child needs the row of its parent, the second close that of the first, as it is after
    // the end: each begins another transaction.
    const auto step =
        commit({close("parent"), child_of("parent", "child"), close("closed"), close("closed")});

    ASSERT_EQ(step.replies.size(), 4U);
    EXPECT_TRUE(std::ranges::all_of(step.replies, [](const auto& reply) { return !!reply; }));
    EXPECT_EQ(store_.commits, before + 2) << "the last one changes nothing";
}

TEST_F(JournalTrial, AFailureInTheMiddleKeepsWhatWasWrittenBefore) {
    recover();
    commit({create("a", lease_owner(10s))});
    store_.refused = {Call::find};

    // The second close needs the row that the first one wrote.
    const auto step = commit({close("a"), close("a"), create("b")}, at(1));

    EXPECT_TRUE(step.replies[0]);
    expect_refused(step.replies[1]);
    expect_refused(step.replies[2]);
    EXPECT_TRUE(step.failed);
    EXPECT_EQ(step.events.size(), 1U) << "the end of a is durable and is told";
}

TEST_F(JournalTrial, WhoWritesBehindAFailureLives) {
    recover();
    commit({create("a", lease_owner(10s)), create("b", lease_owner(10s))});
    store_.refused = {Call::find};

    const auto failed = commit({close("nobody"), append("a", 1, {"x"}), testing::turn("b", 1, true),
                                append("a", 2, {"of another generation"})},
                               at(9));

    for (const auto& reply : failed.replies) expect_refused(reply);
    store_.refused = {};
    EXPECT_TRUE(commit({}, at(18)).events.empty()) << "both were renewed at 9";
    EXPECT_EQ(commit({}, at(20)).events.size(), 2U);
}

TEST_F(JournalTrial, ARecoveryThatCannotReadSaysSo) {
    for (const auto call : {Call::heads, Call::open}) {
        store_.refused = {call};
        EXPECT_FALSE(journal_.recover(at(0), "boot-1"));
    }
}

TEST_F(JournalTrial, LastSignsOfLifeThatAreRefusedAreSavedTheNextTime) {
    recover();
    commit({create("a", lease_owner())});
    commit({testing::beat("a")}, at(5));
    store_.refused = {Call::commit};
    EXPECT_FALSE(journal_.save_all_seen(at(6)));

    store_.refused = {};
    ASSERT_TRUE(journal_.save_all_seen(at(6)));

    const auto row = store_.find(SessionId("a"));
    ASSERT_TRUE(row && *row);
    EXPECT_EQ((*row)->last_seen_at, at(5).wall);
}

/// Until when owners were surely watched goes by the wall clock: set back, it says nothing any
/// more, until it is written anew.
TEST_F(JournalTrial, TheLastWordIsTakenBackOnceWhenTheClockIsSetBack) {
    recover();
    const auto set_back = [](Now now) {
        now.wall -= 100s;
        return now;
    };
    commit({create("a", lease_owner(1000s))});
    state_.set_watched_until(at(60).boot);
    commit({}, at(61));
    ASSERT_TRUE(store_.heads()->last_word);
    EXPECT_EQ(store_.heads()->last_word->at, at(60).wall);

    commit({append("a", 1, {"x"})}, set_back(at(62)));
    EXPECT_EQ(store_.heads()->last_word->at, WallTime{}) << "taken back";

    state_.set_watched_until(at(130).boot);
    commit({}, set_back(at(131)));
    commit({append("a", 1, {"x"})}, set_back(at(132)));
    EXPECT_EQ(store_.heads()->last_word->at, set_back(at(130)).wall);
}

}  // namespace
}  // namespace knell
