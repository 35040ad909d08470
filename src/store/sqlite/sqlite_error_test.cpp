#include "store/sqlite/sqlite_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace knell::sqlite {
namespace {

TEST(SqliteError, SaysWhatHappenedAndWhatToDo) {
    struct Case {
        int code;
        const char* said;
    };
    for (const auto& [code, said] : {
             Case{SQLITE_FULL, "the disk is full: nothing was written to knell.db"},
             Case{SQLITE_READONLY, "knell.db is read-only (x): nothing was written"},
             Case{SQLITE_IOERR, "the disk failed under knell.db (x): nothing was acknowledged"},
             Case{SQLITE_CANTOPEN, "cannot open knell.db (x)"},
             Case{SQLITE_CORRUPT, "knell.db is damaged (x); nothing was changed or deleted"},
             Case{SQLITE_NOTADB, "knell.db is damaged (x); nothing was changed or deleted"},
             Case{SQLITE_BUSY, "knell.db is locked by another program (x)"},
             Case{SQLITE_MISUSE, "the store knell.db failed: x"},
         }) {
        const auto error = to_error(SQLite::Exception("x", code), "knell.db");
        EXPECT_EQ(error.code, ErrorCode::storage);
        EXPECT_THAT(error.message, ::testing::StartsWith(said));
    }
}

}  // namespace
}  // namespace knell::sqlite
