// Rows that another program changed under a running journal: the group that meets them fails, the
// store's word counts from then on, and nobody else is held up.

#include <algorithm>

#include <gmock/gmock.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Conflict : public ::testing::TestWithParam<StoreKind> {
  protected:
    Store& store() { return under_test_->store(); }
    Session shown(const std::string& id) { return **store().find(SessionId(id)); }
    SessionRef ref(const std::string& id, Generation generation) {
        return {SessionId(id), shown(id).ordinal, generation};
    }

    /// Another program writes to the store.
    void write_behind_its_back(Change change) {
        Batch batch;
        batch.changes.push_back(std::move(change));
        const auto written = store().commit(batch);
        ASSERT_TRUE(written) << written.error().message;
    }
    void take_over_behind_its_back(const std::string& id, const Owner& owner) {
        Reopened change{ref(id, shown(id).generation + 1)};
        change.owner = owner;
        change.at = at(0).wall;
        write_behind_its_back(change);
    }
    void end_behind_its_back(const std::string& id) {
        Ended change{ref(id, shown(id).generation), {}};
        change.end.ended_at = change.end.ended_after = change.end.ended_before = at(1).wall;
        write_behind_its_back(change);
    }

    static void expect_storage(const Result<Reply>& reply, const std::string& id) {
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, ErrorCode::storage);
        EXPECT_THAT(reply.error().message, HasSubstr("session " + id));
    }

    std::unique_ptr<StoreUnderTest> under_test_ = GetParam().make();
    JournalOnStore journal_{under_test_->store()};
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Conflict, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Conflict, ARaisedGenerationFailsTheGroupAndCountsFromThenOn) {
    journal_.group({create("a", process_owner(5)), create("b", process_owner(6))});
    take_over_behind_its_back("a", process_owner(7));

    const auto step = journal_.step({append("a", 1, {"x"}), append("b", 1, {"y"})}, at(1));

    EXPECT_TRUE(step.failed);
    for (const auto& reply : step.replies) expect_storage(reply, "a");
    ASSERT_EQ(step.conflicts.size(), 1U);
    EXPECT_THAT(step.conflicts.front(), HasSubstr("generation 2: taken over"));
    EXPECT_EQ(shown("b").tally.messages, 0) << "nothing of the group is written";

    const auto next = journal_.group(
        {append("b", 1, {"y"}), append("a", 1, {"x"}), append("a", 2, {"x"})}, at(2));
    EXPECT_TRUE(next[0]);
    ASSERT_FALSE(next[1]);
    EXPECT_EQ(next[1].error().code, ErrorCode::fenced);
    EXPECT_TRUE(next[2]);
}

TEST_P(Conflict, ItsNewOwnerIsWatchedAndItsOldOneIsNot) {
    journal_.one(create("a", process_owner(5)));
    take_over_behind_its_back("a", process_owner(7));
    ASSERT_TRUE(journal_.step({append("a", 1, {"x"})}, at(1)).failed);

    const auto effects = journal_.tick(at(2)).effects;

    const auto watches = [&](int pid) {
        return std::ranges::any_of(effects, [&](const Effect& effect) {
            const auto* watch = std::get_if<WatchOwner>(&effect);
            return watch != nullptr && watch->process.pid == pid;
        });
    };
    EXPECT_TRUE(watches(7));
    journal_.step({gone(5, exited(0))}, at(3));
    EXPECT_FALSE(shown("a").end) << "the process that went owns it no longer";
    journal_.step({gone(7, exited(1))}, at(4));
    EXPECT_EQ(shown("a").end->reason, Reason::exited);
}

TEST_P(Conflict, WhatSomebodyElseEndedIsNotEndedAgain) {
    journal_.group({create("a", process_owner(5)), create("b", process_owner(5))});
    end_behind_its_back("a");

    const auto step = journal_.step({gone(5, exited(1))}, at(2));

    EXPECT_TRUE(step.failed);
    ASSERT_EQ(step.conflicts.size(), 1U);
    EXPECT_THAT(step.conflicts.front(), HasSubstr("ended (completed): forgotten"));
    // An owner's end is said once.
    journal_.tick(at(3));
    EXPECT_EQ(shown("a").end->ended_at, at(1).wall);
    EXPECT_EQ(shown("b").end->reason, Reason::exited);
    const auto closed = journal_.one(close("a"), at(4));
    ASSERT_TRUE(closed);
    EXPECT_TRUE(std::get<ClosedReply>(*closed).already_ended);
}

TEST_P(Conflict, ALeaseThatWasChangedHasItsFullTimeAgain) {
    journal_.group({create("a", lease_owner(10s)), create("b", lease_owner(10s))});
    take_over_behind_its_back("a", lease_owner(10s));

    EXPECT_TRUE(journal_.tick(at(11)).failed) << "both fall due";
    journal_.tick(at(12));

    EXPECT_EQ(shown("b").end->reason, Reason::reaped);
    journal_.tick(at(20));
    EXPECT_FALSE(shown("a").end) << "its new owner may beat until 21";
    journal_.tick(at(22));
    EXPECT_EQ(shown("a").end->reason, Reason::reaped);
    EXPECT_EQ(shown("a").generation, 2U);
}

TEST_P(Conflict, AsManyRowsAsTheGroupHoldsAreFollowedAtOnce) {
    journal_.group({create("a"), create("b"), create("c")});
    take_over_behind_its_back("a", process_owner(7));
    take_over_behind_its_back("b", process_owner(7));

    const auto step =
        journal_.step({append("a", 1, {"x"}), append("b", 1, {"x"}), append("c", 1, {"x"})}, at(1));

    EXPECT_EQ(step.conflicts.size(), 2U);
    EXPECT_TRUE(journal_.one(append("b", 2, {"x"}), at(2)));
}

TEST_P(Conflict, AProcessWhoseExitSomebodyElseWroteIsForgotten) {
    RecordProcess record;
    record.draft.session_id = SessionId("a");
    record.draft.process = process_owner(31).process;
    record.draft.id = process_id_of(record.draft.process);
    ASSERT_TRUE(journal_.one(create("a")));
    const auto on_record = journal_.one(record);
    ASSERT_TRUE(on_record) << on_record.error().message;
    ProcessExit exit;
    exit.at = exit.after = exit.before = at(1).wall;
    write_behind_its_back(ProcessEnded{{1, record.draft.id}, exit});

    const auto step = journal_.step({StopProcess{record.draft.id, "the test"}}, at(2));

    EXPECT_TRUE(step.failed);
    ASSERT_EQ(step.conflicts.size(), 1U);
    EXPECT_THAT(step.conflicts.front(), HasSubstr(record.draft.id.text()));
    EXPECT_EQ(journal_.state.processes().size(), 0U);
    EXPECT_TRUE(journal_.one(append("a", 1, {"x"}), at(3)));
    EXPECT_FALSE(shown("a").background_since) << "nothing works for it any more";
}

TEST_P(Conflict, SignsOfLifeAreSavedAtAStopForAllOthers) {
    journal_.group({create("a", lease_owner(10s)), create("b", lease_owner(10s))});
    take_over_behind_its_back("a", lease_owner(10s));
    ASSERT_TRUE(journal_.one(beat("a"), at(5)));
    ASSERT_TRUE(journal_.one(beat("b"), at(5)));

    const auto saved = journal_.journal.save_all_seen(at(6));

    EXPECT_TRUE(saved) << saved.error().message;
    EXPECT_EQ(shown("b").last_seen_at, at(5).wall);
}

TEST_P(Conflict, AnOpenRowThatNobodyHereWroteIsRefusedByItself) {
    journal_.one(create("a"));
    Session row;
    row.id = SessionId("x");
    row.ordinal = 1000;
    row.source = "cli";
    write_behind_its_back(Opened{.session = row, .reaper = {}});

    const auto step = journal_.step({append("x", 1, {"m"}), close("x"), create("x"), resume("x"),
                                     Inspect{SessionId("x")}, append("a", 1, {"m"})},
                                    at(1));

    EXPECT_FALSE(step.failed);
    for (std::size_t i = 0; i < 4; ++i) expect_storage(step.replies[i], "x");
    EXPECT_TRUE(step.replies[4]);
    EXPECT_TRUE(step.replies[5]);
    EXPECT_FALSE(shown("x").end);
}

}  // namespace
}  // namespace knell::testing
