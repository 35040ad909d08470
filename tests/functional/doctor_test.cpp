// `knell doctor --hermes DIR`: what a person sees of another store, and that it is left alone.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "testing/folder_state.hpp"
#include "testing/held_file.hpp"
#include "testing/hermes_store.hpp"
#include "testing/store_edit.hpp"
#include "testing/temp_folder.hpp"
#include "wire/json.hpp"

namespace knell::functional {
namespace {

using knell::testing::folder_state;
using knell::testing::HeldFile;
using knell::testing::HermesStore;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DoctorOfHermes : public ::testing::Test {
  protected:
    DoctorOfHermes() {
        store.add_session("a", "cli", 0, 8, "cli_close");
        store.add_session("b", "cli", 86'400, 2);
        store.add_session("c", "cron", 86'400, 0, "cron_complete");
        store.add_session("d", "telegram", 2 * 86'400, 1);
    }
    JsonObject examined(std::vector<std::string> options = {}) {
        std::vector<std::string> arguments{"doctor", "--hermes", store.dir(), "--json"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const auto outcome = home.knell(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        auto parsed = wire::parse_json(outcome.out);
        return parsed && parsed->is_object() ? parsed->get_object() : JsonObject{};
    }

    TempHome home;
    knell::testing::TempFolder folder;
    HermesStore store{folder.path() + "/hermes", HermesStore::Version::schema_26};
};

TEST_F(DoctorOfHermes, TellsASentenceAndATableFirst) {
    store.close();

    const auto outcome = home.knell({"doctor", "--hermes", store.dir()});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(outcome.out.starts_with(
        "4 sessions, of which 2 (50.0 %) never ended: 2 dead, 0 unknown, 0 alive. "
        "Leak rate 50.0 %.\n\nEND REASON"))
        << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("nobody has state.db open"));
    EXPECT_THAT(home.processes(), IsEmpty());  // no daemon was needed
}

TEST_F(DoctorOfHermes, TellsTheLeakRateByDay) {
    store.close();

    const auto found = examined({"--since", "2026-01-02"});

    const auto* days = wire::array_at(found, "by_day");
    ASSERT_NE(days, nullptr);
    ASSERT_THAT(*days, SizeIs(2));
    EXPECT_EQ(wire::text_at(days->at(0).as_object(), "day"), "2026-01-02");
    EXPECT_EQ(days->at(0).as_object().at("leak_rate").to_number<double>(), 0.5);
    EXPECT_EQ(days->at(1).as_object().at("leak_rate").to_number<double>(), 1);
}

TEST_F(DoctorOfHermes, LeavesEverythingAsItWasBesideAWriter) {
    store.run("PRAGMA journal_mode = WAL");
    store.add_session("e", "cli", 3 * 86'400, 1);
    const HeldFile held(store.database());
    const auto before = folder_state(store.dir());

    const auto found = examined();

    EXPECT_EQ(folder_state(store.dir()), before);
    EXPECT_EQ(wire::int_at(found, "sessions"), 5);
    EXPECT_EQ(wire::int_at(found, "unknown"), 3);
    EXPECT_EQ(wire::int_at(found, "dead"), 0);
    EXPECT_THAT(std::string(wire::text_at(found.at("store").as_object(), "in_use")),
                HasSubstr("has state.db open"));
}

TEST_F(DoctorOfHermes, SaysWhatIsWrongWithWhatItWasGiven) {
    store.close();

    EXPECT_EQ(home.knell({"doctor", "--hermes", "/nowhere"}).status, 1);
    EXPECT_THAT(home.knell({"doctor", "--hermes", "/nowhere"}).err,
                HasSubstr("there is no directory /nowhere"));
    const auto outcome = home.knell({"doctor", "--hermes", store.dir(), "--since", "yesterday"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("2026-05-18"));
}

TEST_F(DoctorOfHermes, EndsWhatLeakedOnlyWhenAPersonSaysSo) {
    store.close();
    const auto before = folder_state(store.dir());
    const std::vector<std::string> fix{"doctor", "--hermes", store.dir(), "--fix"};
    const auto with = [&](std::string option) {
        auto arguments = fix;
        arguments.push_back(std::move(option));
        return home.knell(arguments);
    };

    EXPECT_EQ(home.knell(fix).status, 1);
    EXPECT_THAT(home.knell(fix).err, HasSubstr("--yes"));
    EXPECT_THAT(with("--dry-run").out, HasSubstr("Would end 2 sessions"));
    EXPECT_EQ(folder_state(store.dir()), before);

    const auto done = with("--yes");
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("Leak rate 50.0 % before, 0.0 % after."));
    EXPECT_EQ(wire::int_at(examined(), "open"), 0);
    EXPECT_THAT(with("--yes").out, HasSubstr("There is nothing to end"));
}

TEST_F(DoctorOfHermes, EndsNothingWhileSomebodyHasTheStoreOpen) {
    store.close();
    const HeldFile held(store.database());
    const auto before = folder_state(store.dir());

    const auto outcome = home.knell({"doctor", "--hermes", store.dir(), "--fix", "--yes"});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("has state.db open"));
    EXPECT_EQ(folder_state(store.dir()), before);
}

class DoctorOfThisHome : public WithDaemon {
  protected:
    JsonObject examined(int status = 0) {
        const auto outcome = home.knell({"doctor", "--json"});
        EXPECT_EQ(outcome.status, status) << outcome.err;
        auto parsed = wire::parse_json(outcome.out);
        return parsed && parsed->is_object() ? parsed->get_object() : JsonObject{};
    }
    void append(const std::string& id, int messages) {
        for (int i = 0; i < messages; ++i) {
            client.must("session.append",
                        fmt::format(R"({{"session_id":"{}","generation":1,)"
                                    R"("messages":[{{"role":"user","content":"x"}}]}})",
                                    id));
        }
    }
};

TEST_F(DoctorOfThisHome, CountsWhatIsOnRecordBesideTheDaemonAndWithoutOne) {
    const auto open = create();
    append(open, 2);
    const auto leased = create(R"({"source":"gateway","owner":{"lease_ttl_s":600}})");
    const auto ended = create();
    append(ended, 6);
    client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", ended));

    auto found = examined();
    EXPECT_EQ(wire::int_at(found, "sessions"), 3);
    EXPECT_EQ(wire::int_at(found, "open"), 2);
    EXPECT_EQ(wire::int_at(found, "alive"), 2);
    EXPECT_EQ(wire::int_at(found, "trivial"), 1);
    EXPECT_EQ(wire::int_at(found, "substantial"), 1);
    EXPECT_EQ(wire::int_at(found, "empty"), 1);
    EXPECT_EQ(wire::int_at(found, "fault_count"), 0);
    EXPECT_THAT(home.knell({"doctor"}).out, HasSubstr("Nothing is wrong."));

    EXPECT_EQ(daemon.terminate(), 0);
    found = examined();
    EXPECT_EQ(wire::int_at(found, "open"), 2);
    EXPECT_EQ(wire::int_at(found, "alive"), 1);  // the test itself runs
    EXPECT_EQ(wire::int_at(found, "unknown"), 1);
    EXPECT_THAT(home.processes(), IsEmpty());
}

TEST_F(DoctorOfThisHome, FindsWhatMustNotBeAndRepairsWhatFollowsFromTheRest) {
    const auto id = create();
    append(id, 3);
    EXPECT_EQ(home.knell({"doctor", "--repair", "--yes"}).status, 0);  // nothing to do
    EXPECT_EQ(daemon.terminate(), 0);
    knell::testing::edit_store(home.file("knell.db"), "UPDATE sessions SET message_count = 7");
    knell::testing::edit_store(home.file("knell.db"), "DELETE FROM events WHERE seq = 2");

    auto found = examined(/*status=*/1);
    EXPECT_EQ(wire::int_at(found, "fault_count"), 2);

    EXPECT_EQ(home.knell({"doctor", "--repair"}).status, 1);
    EXPECT_THAT(home.knell({"doctor", "--repair"}).err, HasSubstr("--yes"));
    EXPECT_THAT(home.knell({"doctor", "--repair", "--dry-run"}).out,
                HasSubstr("Would make 1 row right."));
    const auto done = home.knell({"doctor", "--repair", "--yes"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("before-repair-"));

    found = examined(/*status=*/1);  // the hole in the log stays
    EXPECT_EQ(wire::int_at(found, "fault_count"), 1);
}

TEST_F(DoctorOfThisHome, IsNotRepairedUnderADaemon) {
    append(create(), 1);
    EXPECT_EQ(daemon.terminate(), 0);
    knell::testing::edit_store(home.file("knell.db"), "UPDATE sessions SET message_count = 7");
    daemon.start();

    const auto outcome = home.knell({"doctor", "--repair", "--yes"});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("knell down"));
}

}  // namespace
}  // namespace knell::functional
