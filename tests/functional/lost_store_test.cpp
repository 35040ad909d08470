// The store's files deleted or replaced under a running daemon: nothing is acknowledged that would
// be lost.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"
#include "testing/store_edit.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class LostStore : public WithOwners {
  protected:
    void expect_refused(std::string_view why) {
        const auto refused = client.call("session.create", R"({"id":"new","source":"cli"})");
        EXPECT_EQ(refused.kind(), "storage");
        EXPECT_THAT(refused.message(), HasSubstr(why));
        EXPECT_THAT(refused.message(), HasSubstr("knell down"));
        const auto status = client.must("node.status");
        ASSERT_FALSE(array(status, "degraded").empty());
        EXPECT_THAT(text(status, "degraded.0"), HasSubstr(why));
        EXPECT_THAT(home.knell({"status"}).out, HasSubstr("degraded"));
    }
    std::string store = home.file("knell.db");
};

TEST_F(LostStore, ADeletedDatabaseAcknowledgesNothing) {
    create(R"({"id":"s","source":"cli"})");
    fs::remove(store);

    expect_refused("knell.db was deleted");

    EXPECT_EQ(client
                  .call("session.append", R"({"session_id":"s","generation":1,
        "messages":[{"role":"user","content":"x"}]})")
                  .kind(),
              "storage");
    EXPECT_TRUE(client.call("session.heartbeat", R"({"session_id":"s","generation":1})").ok());
}

TEST_F(LostStore, ADeletedLogOfTheDatabaseAcknowledgesNothing) {
    create(R"({"id":"s","source":"cli"})");
    fs::remove(store + "-wal");

    expect_refused("knell.db-wal was deleted");
}

TEST_F(LostStore, AReplacedDatabaseIsNotWrittenTo) {
    create(R"({"id":"s","source":"cli"})");
    write_file(home.file("restored"), "a backup");
    fs::rename(home.file("restored"), store);

    expect_refused("knell.db was replaced");

    EXPECT_EQ(read_file(store), "a backup");
}

TEST_F(LostStore, ATruncatedDatabaseAcknowledgesNothing) {
    create(R"({"id":"s","source":"cli"})");
    fs::resize_file(store, 0);

    expect_refused("knell.db was truncated");

    daemon.kill9();
    const auto start = refused_start(home);
    EXPECT_EQ(start.status, 1);
    EXPECT_THAT(start.err, HasSubstr("knell.db is empty, but its log"));
    EXPECT_NE(fs::file_size(store + "-wal"), 0U);
}

TEST_F(LostStore, ATruncatedLogOfTheDatabaseAcknowledgesNothing) {
    create(R"({"id":"s","source":"cli"})");
    fs::resize_file(store + "-wal", 0);

    const auto refused = client.call("session.create", R"({"id":"new","source":"cli"})");

    EXPECT_EQ(refused.kind(), "storage");
    EXPECT_THAT(refused.message(), HasSubstr("knell.db-wal was truncated"));
}

TEST_F(LostStore, ACheckpointOfSomebodyElseIsNoLoss) {
    create(R"({"id":"s","source":"cli"})");
    testing::edit_store(store, "PRAGMA wal_checkpoint(TRUNCATE)");

    EXPECT_EQ(create(R"({"id":"new","source":"cli"})"), "new");
}

TEST_F(LostStore, OneThatIsPutBackTakesWritesAgain) {
    create(R"({"id":"s","source":"cli"})");
    fs::rename(store, home.file("away"));
    expect_refused("knell.db was deleted or moved");

    fs::rename(home.file("away"), store);

    EXPECT_EQ(create(R"({"id":"new","source":"cli"})"), "new");
    EXPECT_TRUE(array(client.must("node.status"), "degraded").empty());
    daemon.restart();
    reconnect();
    EXPECT_EQ(text(show("new"), "id"), "new");
}

}  // namespace
}  // namespace knell::functional
