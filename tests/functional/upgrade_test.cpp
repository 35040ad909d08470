// A store of an older knell: kept as it was beside the one that this version goes on with.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Upgrade : public ::testing::Test {
  protected:
    /// As the version before the last migration left it.
    Upgrade() {
        {
            Daemon daemon(home);
            Client(home.socket()).must("session.create", R"({"id":"s","source":"cli"})");
            daemon.terminate();
        }
        ::knell::testing::edit_store(store,
                                     "DROP TABLE source_counts; DROP TABLE source_ends; "
                                     "DROP INDEX sessions_imported; "
                                     "PRAGMA user_version = 16");
    }

    TempHome home;
    std::string store = home.file("knell.db");
    std::string copy = store + ".schema-16";
};

TEST_F(Upgrade, ACopyIsMadeFirstAndTheLogSaysSo) {
    Daemon daemon(home);

    daemon.wait_for_log("copied " + store + " to " + copy);
    EXPECT_EQ(text(Client(home.socket()).must("session.show", R"({"session_id":"s"})"), "source"),
              "cli");
    daemon.terminate();
    // What was kept is a whole store: put in place, it is upgraded again.
    fs::rename(copy, store);
    Daemon again(home);
    EXPECT_TRUE(Client(home.socket()).call("session.show", R"({"session_id":"s"})").ok());
}

TEST_F(Upgrade, WithoutRoomForTheCopyNothingIsChanged) {
    fs::create_directories(copy + ".tmp/in_the_way");
    const auto before = read_file(store);

    const auto refused = refused_start(home);

    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("cannot copy"), HasSubstr(copy),
                                   HasSubstr("nothing was changed"), HasSubstr("start again")));
    EXPECT_TRUE(read_file(store) == before) << "the store was changed";
}

}  // namespace
}  // namespace knell::functional
