#include "foreign/hermes/snapshot.hpp"

#include <filesystem>
#include <map>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "testing/folder_state.hpp"
#include "testing/hermes_store.hpp"
#include "testing/temp_folder.hpp"

namespace knell::hermes {
namespace {

using knell::testing::folder_state;
using knell::testing::HermesStore;
using knell::testing::TempFolder;

std::int64_t sessions_in(Snapshot& snapshot) {
    return snapshot.database().execAndGet("SELECT count(*) FROM sessions").getInt64();
}

TEST(Snapshot, OfAClosedStoreIsReadInPlaceAndLeavesNoTrace) {
    const TempFolder folder;
    HermesStore store(folder.path() + "/hermes", HermesStore::Version::schema_26);
    store.add_session("a", "cli", 0, 3);
    store.close();
    const auto before = folder_state(store.dir());
    {
        auto snapshot = Snapshot::take(store.database(), /*in_use=*/false);

        ASSERT_TRUE(snapshot) << snapshot.error().message;
        EXPECT_EQ(snapshot->how(), Snapshot::How::in_place);
        EXPECT_EQ(sessions_in(*snapshot), 1);
        EXPECT_TRUE(snapshot->is_valid());
        EXPECT_EQ(folder_state(store.dir()), before);
    }
    EXPECT_EQ(folder_state(store.dir()), before);
}

TEST(Snapshot, OfAClosedStoreInLogModeIsReadInPlaceToo) {
    const TempFolder folder;
    HermesStore store(folder.path() + "/hermes", HermesStore::Version::schema_26);
    store.run("PRAGMA journal_mode = WAL");
    store.add_session("a", "cli", 0, 3);
    store.close();
    const auto before = folder_state(store.dir());

    auto snapshot = Snapshot::take(store.database(), /*in_use=*/false);

    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(sessions_in(*snapshot), 1);
    EXPECT_EQ(folder_state(store.dir()), before);
}

TEST(Snapshot, BesideAWriterHasWhatStandsInItsLog) {
    const TempFolder folder;
    HermesStore store(folder.path() + "/hermes", HermesStore::Version::schema_26);
    store.run("PRAGMA journal_mode = WAL");
    store.add_session("a", "cli", 0, 3);
    ASSERT_TRUE(std::filesystem::exists(store.database() + "-wal"));
    const auto before = folder_state(store.dir());

    auto snapshot = Snapshot::take(store.database(), /*in_use=*/true);

    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(snapshot->how(), Snapshot::How::copied);
    EXPECT_EQ(sessions_in(*snapshot), 1);
    EXPECT_EQ(folder_state(store.dir()), before);
    // What is written from now on is not of this moment.
    store.add_session("b", "cli", 10, 1);
    EXPECT_EQ(sessions_in(*snapshot), 1);
    EXPECT_TRUE(snapshot->is_valid());
}

TEST(Snapshot, OfACrashedWriterHasWhatStandsInItsLog) {
    const TempFolder folder;
    HermesStore store(folder.path() + "/live", HermesStore::Version::schema_26);
    store.run("PRAGMA journal_mode = WAL");
    store.add_session("a", "cli", 0, 3);
    std::filesystem::copy(store.dir(), folder.path() + "/crashed");

    auto snapshot = Snapshot::take(folder.path() + "/crashed/state.db", /*in_use=*/false);

    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(snapshot->how(), Snapshot::How::copied);
    EXPECT_EQ(sessions_in(*snapshot), 1);
}

TEST(Snapshot, LeavesNoCopyBehind) {
    const TempFolder folder;
    const TempFolder temporary;
    HermesStore store(folder.path() + "/hermes", HermesStore::Version::schema_11);
    const auto* before = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
    const std::string kept = before == nullptr ? "" : before;
    ASSERT_EQ(::setenv("TMPDIR", temporary.path().c_str(), 1), 0);

    auto snapshot = Snapshot::take(store.database(), /*in_use=*/true);

    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
    EXPECT_EQ(sessions_in(*snapshot), 0);
    if (before == nullptr) {
        ::unsetenv("TMPDIR");
    } else {
        ::setenv("TMPDIR", kept.c_str(), 1);
    }
}

TEST(Snapshot, InPlaceIsNoLongerValidOnceSomebodyWrote) {
    const TempFolder folder;
    HermesStore store(folder.path() + "/hermes", HermesStore::Version::schema_11);
    auto snapshot = Snapshot::take(store.database(), /*in_use=*/false);
    ASSERT_TRUE(snapshot);

    store.add_session("a", "cli", 0, 1);

    EXPECT_FALSE(snapshot->is_valid());
}

TEST(Snapshot, OfNothingSaysSo) {
    const auto snapshot = Snapshot::take("/nowhere/state.db", /*in_use=*/false);

    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace knell::hermes
