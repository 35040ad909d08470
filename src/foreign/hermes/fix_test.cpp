#include "foreign/hermes/fix.hpp"

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "foreign/hermes/home.hpp"
#include "testing/folder_state.hpp"
#include "testing/held_file.hpp"
#include "testing/hermes_store.hpp"
#include "testing/temp_folder.hpp"

namespace knell::hermes {
namespace {

using knell::testing::folder_state;
using knell::testing::HeldFile;
using knell::testing::HermesStore;
using knell::testing::TempFolder;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr WallTime now = from_millis(1'800'000'000'000);

class HermesFix : public ::testing::TestWithParam<HermesStore::Version> {
  protected:
    HermesFix() {
        store_.add_session("ended", "cli", 0, 3, "cli_close");
        store_.add_session("leaked", "cli", 100, 4);
        store_.add_session("silent", "telegram", 200, 0);
    }
    std::string row(const std::string& id) {
        SQLite::Database database(store_.database());
        return database
            .execAndGet(fmt::format("SELECT coalesce(end_reason, '-') || ' ' || "
                                    "coalesce(ended_at, 0.0) FROM sessions WHERE id = '{}'",
                                    id))
            .getString();
    }

    TempFolder folder_;
    HermesStore store_{folder_.path() + "/hermes", GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Versions, HermesFix,
                         ::testing::Values(HermesStore::Version::schema_11,
                                           HermesStore::Version::schema_26),
                         [](const auto& version) {
                             return version.param == HermesStore::Version::schema_11 ? "Schema11"
                                                                                     : "Schema26";
                         });

TEST_P(HermesFix, EndsWhatLeakedAtItsLastSignAfterACopyWasMade) {
    store_.close();
    const auto before = row("ended");

    const auto done = fix(store_.dir(), view_processes(), now);

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->ended, 2);
    EXPECT_EQ(done->changed, 0);
    EXPECT_NEAR(leak_rate(done->before), 2.0 / 3, 1e-9);
    EXPECT_EQ(leak_rate(done->after), 0);
    EXPECT_EQ(row("leaked"), "reaped 1767225703.0");  // the start and three seconds
    EXPECT_EQ(row("silent"), "reaped 1767225800.0");  // the start
    EXPECT_EQ(row("ended"), before);
    SQLite::Database copy(done->backup);
    EXPECT_EQ(copy.execAndGet("SELECT count(*) FROM sessions WHERE ended_at IS NULL").getInt(), 2);
    EXPECT_EQ(examine(store_.dir(), view_processes(), now, {})->census.all.open, 0);
}

TEST_P(HermesFix, ThatIsOnlyPlannedChangesNothing) {
    store_.close();
    const auto before = folder_state(store_.dir());

    const auto planned = plan_fix(store_.dir(), view_processes());

    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->ended, 2);
    EXPECT_EQ(planned->by_source.at("cli"), 1);
    EXPECT_EQ(folder_state(store_.dir()), before);
}

TEST_P(HermesFix, ChangesNothingWhileSomebodyHasItOpen) {
    store_.close();
    const HeldFile held(store_.database());
    const auto before = folder_state(store_.dir());

    const auto done = fix(store_.dir(), view_processes(), now);

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::blocked);
    EXPECT_THAT(done.error().message, HasSubstr(fmt::format("process {}", held.pid())));
    EXPECT_EQ(folder_state(store_.dir()), before);
}

TEST_P(HermesFix, ChangesNothingWhenTheCopyCannotBeMade) {
    store_.close();
    // Something has its name.
    store_.write("state.db.before-knell-20270115T080000Z", "");
    const auto before = folder_state(store_.dir());

    const auto done = fix(store_.dir(), view_processes(), now);

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::storage);
    EXPECT_EQ(row("leaked"), "- 0.0");
}

TEST_P(HermesFix, LeavesARowAloneWhoseOwnerMayLive) {
    store_.close();
    const auto own = read_proc_stat(::getpid());
    store_.write("runtime/active_sessions.json",
                 fmt::format(R"({{"entries": [{{"session_id": "leaked", "pid": {},
                                  "process_start_time": {}}}]}})",
                             ::getpid(), own->start_ticks));

    const auto done = fix(store_.dir(), view_processes(), now);

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->ended, 1);
    ASSERT_THAT(done->left_alone, SizeIs(1));
    EXPECT_EQ(done->left_alone.front().id, "leaked");
    EXPECT_EQ(row("leaked"), "- 0.0");
}

TEST_P(HermesFix, TakesInWhatACrashedWriterLeftInItsLog) {
    store_.run("PRAGMA journal_mode = WAL");
    store_.add_session("late", "cli", 300, 2);
    const auto crashed = folder_.path() + "/crashed";
    std::filesystem::copy(store_.dir(), crashed);

    const auto done = fix(crashed, view_processes(), now);

    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->ended, 3);
    SQLite::Database copy(done->backup);
    EXPECT_EQ(copy.execAndGet("SELECT count(*) FROM sessions WHERE ended_at IS NULL").getInt(), 3);
    SQLite::Database database(crashed + "/state.db");
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM sessions WHERE ended_at IS NULL").getInt(),
              0);
}

TEST_P(HermesFix, WithNothingToEndMakesNoCopy) {
    store_.run("DELETE FROM sessions WHERE ended_at IS NULL");
    store_.close();
    const auto before = folder_state(store_.dir());

    const auto done = fix(store_.dir(), view_processes(), now);

    ASSERT_TRUE(done);
    EXPECT_EQ(done->ended, 0);
    EXPECT_EQ(done->backup, "");
    EXPECT_EQ(folder_state(store_.dir()), before);
}

}  // namespace
}  // namespace knell::hermes
