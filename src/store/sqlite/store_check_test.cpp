#include "store/sqlite/store_check.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_store.hpp"
#include "testing/folder_state.hpp"
#include "testing/store_edit.hpp"
#include "testing/temp_folder.hpp"

namespace knell::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WallTime noon = from_millis(1'779'105'600'000);

class StoreCheck : public ::testing::Test {
  protected:
    StoreCheck() {
        auto store = open_store({.path = path(), .vfs = {}});
        EXPECT_TRUE(store);
        Batch batch;
        for (Ordinal ordinal = 1; ordinal <= 3; ++ordinal) {
            Session session;
            session.ordinal = ordinal;
            session.id = SessionId("s" + std::to_string(ordinal));
            session.source = ordinal == 3 ? "gateway" : "cli";
            session.started_at = session.last_activity_at = session.last_seen_at = noon;
            session.last_interaction_at = noon;
            session.owner.since = noon;
            batch.changes.emplace_back(Opened{.session = session, .reaper = {}});
        }
        Appended said;
        static_cast<SessionRef&>(said) = {SessionId("s1"), 1, 1};
        said.first_number = 1;
        said.messages = {{"user", "a", "", 0}, {"assistant", "b", "", 0}};
        said.tally.messages = 2;
        said.at = noon;
        batch.changes.emplace_back(said);
        EXPECT_TRUE((*store)->commit(batch));
    }
    std::string path() const { return folder_.path() + "/knell.db"; }
    void edit(const std::string& sql) const { testing::edit_store(path(), sql); }
    std::vector<StoreFault::Kind> faults() const {
        std::vector<StoreFault::Kind> kinds;
        const auto census = take_census(path());
        EXPECT_TRUE(census) << census.error().message;
        for (const auto& fault : census->faults) kinds.push_back(fault.kind);
        return kinds;
    }

    testing::TempFolder folder_;
};

TEST_F(StoreCheck, CountsAndFindsNothingWrong) {
    const auto census = take_census(path());

    ASSERT_TRUE(census) << census.error().message;
    EXPECT_EQ(census->sessions, 3);
    EXPECT_EQ(census->open, 3);
    EXPECT_EQ(census->empty, 2);
    EXPECT_EQ(census->trivial, 1);
    EXPECT_EQ(census->messages, 2);
    EXPECT_EQ(census->sources.at("cli").sessions, 2);
    EXPECT_EQ(census->open_rows.size(), 3U);
    EXPECT_THAT(census->faults, IsEmpty());
}

TEST_F(StoreCheck, FindsEachFault) {
    using Kind = StoreFault::Kind;
    edit("UPDATE sessions SET message_count = 5 WHERE id = 's1'");
    EXPECT_THAT(faults(), ElementsAre(Kind::message_count));
    edit("UPDATE sessions SET message_count = 2 WHERE id = 's1'");
    edit("UPDATE messages SET number = 9 WHERE number = 2");
    EXPECT_THAT(faults(), ElementsAre(Kind::message_numbers));
    edit("UPDATE messages SET number = 2 WHERE number = 9");
    edit(
        "INSERT INTO messages (session, number, at, role, content, tokens) "
        "VALUES (99, 1, 0, 'user', 'x', 0)");
    EXPECT_THAT(faults(), ElementsAre(Kind::orphan_messages));
    edit("DELETE FROM messages WHERE session = 99");
    edit("INSERT INTO events (seq, type, time) VALUES (1, 'notice', 0), (3, 'notice', 0)");
    EXPECT_THAT(faults(), ElementsAre(Kind::event_numbers));
    edit("DELETE FROM events");
    edit(
        "INSERT INTO events (seq, type, time, session_id, generation, place) "
        "VALUES (1, 'session:end', 0, 's2', 1, 7)");
    EXPECT_THAT(faults(), ElementsAre(Kind::ends));
}

TEST_F(StoreCheck, CountsAnOrphanWhoseParentIsNotOnRecord) {
    edit("UPDATE sessions SET parent_id = 'gone', relation = 'branch' WHERE id = 's2'");

    EXPECT_EQ(take_census(path())->orphans, 1);
}

TEST_F(StoreCheck, RepairsWhatFollowsFromTheRestAfterACopy) {
    edit("UPDATE sessions SET message_count = 5 WHERE id = 's1'");

    const auto done = repair_store(path(), noon);

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->rows, 1);
    EXPECT_EQ(done->backup, path() + ".before-repair-20260518T120000Z");
    EXPECT_THAT(faults(), IsEmpty());
    EXPECT_EQ(take_census(done->backup)->fault_count, 1);
    // A second one has nothing to do, and makes no copy.
    EXPECT_EQ(repair_store(path(), noon)->backup, "");
}

TEST_F(StoreCheck, ChangesNothingWhereNoCopyCanBeMade) {
    edit("UPDATE sessions SET message_count = 5 WHERE id = 's1'");
    std::filesystem::create_directories(path() + ".before-repair-20260518T120000Z.tmp/full");

    const auto done = repair_store(path(), noon);

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::storage);
    EXPECT_EQ(take_census(path())->fault_count, 1);
}

TEST_F(StoreCheck, SaysWhatIsMissingOrOld) {
    EXPECT_EQ(take_census(folder_.path() + "/none.db").error().code, ErrorCode::not_found);
    edit("PRAGMA user_version = 3");
    EXPECT_THAT(take_census(path()).error().message, ::testing::HasSubstr("knell up"));
    EXPECT_FALSE(repair_store(path(), noon));
}

}  // namespace
}  // namespace knell::sqlite
