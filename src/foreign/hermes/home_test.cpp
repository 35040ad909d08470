#include "foreign/hermes/home.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "foreign/hermes/state_db.hpp"
#include "testing/folder_state.hpp"
#include "testing/held_file.hpp"
#include "testing/hermes_store.hpp"
#include "testing/shared_file.hpp"
#include "testing/temp_folder.hpp"

namespace knell::hermes {
namespace {

using knell::testing::folder_state;
using knell::testing::HermesStore;
using knell::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr WallTime now = from_millis(1'800'000'000'000);

Result<Examination> examined(const std::string& dir, std::optional<WallTime> since = {}) {
    return examine(dir, view_processes(), now, since);
}

class HermesHome : public ::testing::TestWithParam<HermesStore::Version> {
  protected:
    TempFolder folder_;
    HermesStore store_{folder_.path() + "/hermes", GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Versions, HermesHome,
                         ::testing::Values(HermesStore::Version::schema_11,
                                           HermesStore::Version::schema_26),
                         [](const auto& version) {
                             return version.param == HermesStore::Version::schema_11 ? "Schema11"
                                                                                     : "Schema26";
                         });

TEST_P(HermesHome, IsCountedAndLeftAsItWas) {
    store_.add_session("a", "cli", 0, 8, "cli_close");
    store_.add_session("b", "cli", 100, 0);
    store_.add_session("c", "cron", 200, 3, "cron_complete");
    store_.add_session("d", "cli", 300, 2, "", "a");
    store_.add_session("e", "cli", 400, 2, "cli_close", "nobody");
    store_.run("INSERT INTO messages (session_id, role, timestamp) VALUES ('gone', 'user', 1)");
    store_.close();
    const auto before = folder_state(store_.dir());

    const auto found = examined(store_.dir(), WallTime{});

    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(folder_state(store_.dir()), before);
    EXPECT_FALSE(found->read_a_copy);
    EXPECT_EQ(found->in_use, "");
    const auto& census = found->census;
    EXPECT_EQ(census.all.count, 5);
    EXPECT_EQ(census.all.open, 2);
    EXPECT_EQ(census.empty, 1);
    EXPECT_EQ(census.trivial, 3);
    EXPECT_EQ(census.substantial, 1);
    EXPECT_EQ(census.orphans, 1);
    EXPECT_EQ(census.orphan_messages, 1);
    EXPECT_EQ(census.count_mismatches, 0);
    EXPECT_EQ(census.days.at("2026-01-01").count, 5);
    ASSERT_THAT(census.open_rows, SizeIs(2));
    EXPECT_EQ(census.open_rows.front().id, "d");
    EXPECT_EQ(census.open_rows.front().verdict, Verdict::dead);
}

TEST_P(HermesHome, BesideItsWriterIsReadFromACopyAndNobodyIsDead) {
    store_.run("PRAGMA journal_mode = WAL");
    store_.add_session("a", "cli", 0, 8);
    // A child has it open; what this process has open itself does not count.
    const testing::HeldFile held(store_.database());
    const auto before = folder_state(store_.dir());

    const auto found = examined(store_.dir());

    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(folder_state(store_.dir()), before);
    EXPECT_TRUE(found->read_a_copy);
    EXPECT_THAT(found->in_use, HasSubstr(fmt::format("process {}", held.pid())));
    ASSERT_THAT(found->census.open_rows, SizeIs(1));
    EXPECT_EQ(found->census.open_rows.front().verdict, Verdict::unknown);
}

TEST(HermesHomeFiles, SayWhoLivesAndWhatIsOver) {
    const TempFolder folder;
    HermesStore store(folder.path(), HermesStore::Version::schema_26);
    for (const auto* id : {"shown", "finalized", "over", "lost"}) {
        store.add_session(id, "telegram", 0, 6);
    }
    store.add_session("ended", "telegram", 0, 6, "session_reset");
    store.run("UPDATE sessions SET expiry_finalized = 1 WHERE id = 'over'");
    store.run(
        "INSERT INTO gateway_routing VALUES ('', 'k2', '{\"session_id\": \"finalized\"}', 1)");
    store.close();
    const auto own = read_proc_stat(::getpid());
    store.write("runtime/active_sessions.json",
                fmt::format(R"({{"entries": [{{"session_id": "shown", "pid": {},
                                 "process_start_time": {}}}]}})",
                            ::getpid(), own->start_ticks));
    store.write("sessions/sessions.json",
                R"({"k1": {"session_id": "ended", "expiry_finalized": true},
                    "k2": {"session_id": "finalized", "expiry_finalized": true},
                    "k3": {"session_id": "nowhere"}})");
    store.write("processes.json",
                R"([{"session_id": "proc_1", "command": "sh", "pid": 2147483647,
                     "host_start_time": 5, "started_at": 1799999000, "session_key": "k3"}])");
    store.write("config.yaml", "session_reset: {idle_minutes: 0}\n");
    store.write("hooks/log/HOOK.yaml", "events: [session:end]\n");

    const auto found = examined(folder.path());

    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(found->problems, IsEmpty());
    std::map<std::string, Verdict> verdicts;
    for (const auto& row : found->census.open_rows) verdicts[row.id] = row.verdict;
    EXPECT_EQ(verdicts.at("shown"), Verdict::alive);
    EXPECT_EQ(verdicts.at("finalized"), Verdict::dead);
    EXPECT_EQ(verdicts.at("over"), Verdict::dead);
    EXPECT_EQ(verdicts.at("lost"), Verdict::dead);
    EXPECT_EQ(found->census.finalized_open, 1);
    ASSERT_THAT(found->finalized_without_end, SizeIs(1));
    EXPECT_EQ(found->finalized_without_end.front().session_id, "finalized");
    EXPECT_EQ(found->routing_entries, 3);
    EXPECT_EQ(found->dangling_entries, 1);
    ASSERT_THAT(found->processes, SizeIs(1));
    EXPECT_EQ(found->processes.front().judged.life, Life::gone);
    EXPECT_FALSE(found->processes.front().judged.holds_reset);
    EXPECT_THAT(found->settings->remarks, SizeIs(1));
    EXPECT_THAT(found->hooks, SizeIs(1));
}

TEST(HermesHomeFiles, ThatCannotBeUnderstoodLeaveEveryOwnerUnknown) {
    const TempFolder folder;
    HermesStore store(folder.path(), HermesStore::Version::schema_26);
    store.add_session("a", "cli", 0, 6);
    store.close();
    store.write("processes.json", "[{");

    const auto found = examined(folder.path());

    ASSERT_TRUE(found);
    EXPECT_THAT(found->problems, ElementsAre(HasSubstr("processes.json")));
    EXPECT_EQ(found->census.open_rows.front().verdict, Verdict::unknown);
}

TEST(HermesHomeErrors, SayWhatIsMissingAndWhatToName) {
    const TempFolder folder;
    EXPECT_THAT(examined(folder.path() + "/none").error().message,
                HasSubstr("there is no directory"));
    EXPECT_THAT(examined(folder.path()).error().message, HasSubstr("there is no state.db"));

    HermesStore store(folder.path(), HermesStore::Version::schema_11);
    store.run("UPDATE schema_version SET version = 10");
    store.close();
    EXPECT_THAT(examined(folder.path()).error().message, HasSubstr("schema 10"));

    store.write("other/state.db", "not a database at all, but long enough to look like one");
    EXPECT_THAT(examined(folder.path() + "/other").error().message, HasSubstr("cannot read"));
}

/// Written by two versions of Hermes itself.
TEST(HermesHomeOfHermes, HasTheSameFiguresInBothVersions) {
    for (const auto* name : {"data/hermes_v11.db", "data/hermes_v26.db"}) {
        const auto file = testing::shared_file(name);
        if (!file)
            GTEST_SKIP() << "no " << name << " beside the source tree (KNELL_SHARED names it)";
        const TempFolder folder;
        const auto path = folder.path() + "/state.db";
        std::filesystem::copy_file(*file, path);

        const auto found = examined(folder.path());

        ASSERT_TRUE(found) << found.error().message;
        EXPECT_EQ(found->census.all.count, 305) << name;
        EXPECT_EQ(found->census.all.open, 89) << name;
        EXPECT_EQ(found->census.reasons.at("cron_complete"), 128) << name;
        EXPECT_EQ(found->census.reasons.at("recovered"), 64) << name;
        EXPECT_EQ(found->census.verdicts.at(static_cast<std::size_t>(Verdict::dead)), 89) << name;
    }
}

}  // namespace
}  // namespace knell::hermes
