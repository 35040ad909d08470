#include "store/sqlite/backup.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/sqlite/migrations.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "testing/store_edit.hpp"
#include "testing/temp_folder.hpp"

namespace knell::sqlite {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Backup : public ::testing::Test {
  protected:
    /// A store of schema 1, as that version left it.
    void make_old_store() {
        const std::ofstream empty(path_);
        testing::edit_store(path_,
                            fmt::format("BEGIN; {}; PRAGMA application_id = 0x6b6e656c; "
                                        "PRAGMA user_version = 1; "
                                        "INSERT INTO node VALUES ('node_id', 'old'); COMMIT;",
                                        migrations.front().sql));
    }
    Result<std::unique_ptr<Store>> open() {
        return open_store({.path = path_, .vfs = {}, .on_backup = [this](const std::string& copy) {
                               told_.push_back(copy);
                           }});
    }
    static std::int64_t schema_of(const std::string& path) {
        SQLite::Database database(path, SQLite::OPEN_READONLY);
        return database.execAndGet("PRAGMA user_version").getInt64();
    }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            names.push_back(entry.path().filename().string());
        }
        std::ranges::sort(names);
        return names;
    }

    testing::TempFolder folder_;
    const std::string path_ = folder_.path() + "/knell.db";
    const std::string copy_ = path_ + ".schema-1";
    std::vector<std::string> told_;
};

TEST_F(Backup, IsMadeBeforeAnOlderStoreIsChanged) {
    make_old_store();

    const auto store = open();

    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->facts().schema, newest_schema());
    EXPECT_EQ(told_, std::vector{copy_});
    EXPECT_EQ(schema_of(copy_), 1);
    SQLite::Database copy(copy_, SQLite::OPEN_READONLY);
    EXPECT_EQ(copy.execAndGet("SELECT value FROM node").getString(), "old");
    EXPECT_EQ(copy.execAndGet("PRAGMA integrity_check").getString(), "ok");
    struct stat found{};
    ASSERT_EQ(::stat(copy_.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(Backup, HoldsWhatIsOnlyInTheLogYet) {
    make_old_store();
    testing::edit_store(path_, "PRAGMA journal_mode = WAL");
    {
        SQLite::Database crashed(path_, SQLite::OPEN_READWRITE);
        crashed.exec("INSERT INTO node VALUES ('late', 'x')");
        fs::copy(path_, path_ + ".aside");
        fs::copy(path_ + "-wal", path_ + ".aside-wal");
    }
    fs::rename(path_ + ".aside", path_);
    fs::rename(path_ + ".aside-wal", path_ + "-wal");

    ASSERT_TRUE(open());

    SQLite::Database copy(copy_, SQLite::OPEN_READONLY);
    EXPECT_EQ(copy.execAndGet("SELECT value FROM node WHERE name = 'late'").getString(), "x");
}

TEST_F(Backup, IsNotMadeOfANewStoreNorOfOneThatIsUpToDate) {
    ASSERT_TRUE(open());
    ASSERT_TRUE(open());

    EXPECT_EQ(files(), std::vector<std::string>{"knell.db"});
    EXPECT_TRUE(told_.empty());
}

TEST_F(Backup, WhatStandsInItsPlaceIsLeftAlone) {
    make_old_store();
    std::ofstream(copy_) << "a note";
    fs::create_directory(copy_ + ".2");
    fs::create_symlink("nowhere", copy_ + ".3");

    ASSERT_TRUE(open());

    EXPECT_EQ(fs::file_size(copy_), 6U);
    EXPECT_EQ(told_, std::vector{copy_ + ".4"});
    EXPECT_EQ(schema_of(copy_ + ".4"), 1);
}

TEST_F(Backup, IsMadeAgainOnlyOfAStoreThatWentOn) {
    make_old_store();
    fs::copy(path_, copy_);  // of a start that was killed before it changed anything
    ASSERT_TRUE(open());
    EXPECT_TRUE(told_.empty());

    fs::copy_file(copy_, path_, fs::copy_options::overwrite_existing);  // somebody went back
    testing::edit_store(path_, "INSERT INTO node VALUES ('alive_at', 5)");
    ASSERT_TRUE(open());

    EXPECT_EQ(told_, std::vector{copy_ + ".2"});
}

TEST_F(Backup, OfAStartThatWasCutShortIsMadeAnew) {
    make_old_store();
    std::ofstream(copy_ + ".tmp") << "half of it";

    ASSERT_TRUE(open());

    EXPECT_EQ(schema_of(copy_), 1);
    EXPECT_EQ(files(), (std::vector<std::string>{"knell.db", "knell.db.schema-1"}));
}

TEST_F(Backup, ThatCannotBeMadeLeavesTheStoreAsItIs) {
    make_old_store();
    fs::create_directories(copy_ + ".tmp/in_the_way");

    const auto refused = open();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::storage);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr(copy_), HasSubstr("nothing was changed"),
                                               HasSubstr("then start again")));
    EXPECT_EQ(schema_of(path_), 1);
    EXPECT_FALSE(fs::exists(copy_));
}

}  // namespace
}  // namespace knell::sqlite
