#include "store/sqlite/statement_cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace knell::sqlite {
namespace {

class StatementCacheTest : public ::testing::Test {
  protected:
    /// Whether the one statement is not over.
    bool is_busy() {
        return sqlite3_stmt_busy(sqlite3_next_stmt(database.getHandle(), nullptr)) != 0;
    }

    SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    StatementCache cache{database};
};

TEST_F(StatementCacheTest, TheSameTextIsPreparedOnce) {
    const SQLite::Statement* first = nullptr;
    {
        const auto use = cache.use("SELECT 1");
        first = &*use;
    }
    const auto again = cache.use("SELECT 1");
    EXPECT_EQ(&*again, first);
    EXPECT_EQ(cache.size(), 1U);
}

TEST_F(StatementCacheTest, NothingIsLeftOfTheUseBefore) {
    const std::string sql = "SELECT coalesce(:a, 'none')";
    {
        const auto use = cache.use(sql);
        (*use).bind(":a", "x");
        ASSERT_TRUE((*use).executeStep());
        EXPECT_TRUE(is_busy());
    }
    EXPECT_FALSE(is_busy()) << "it keeps its view of the store";
    const auto again = cache.use(sql);
    ASSERT_TRUE((*again).executeStep());
    EXPECT_EQ((*again).getColumn(0).getString(), "none");
}

TEST_F(StatementCacheTest, HoldsOnlySoMany) {
    for (std::size_t i = 0; i < 3 * StatementCache::statements_max; ++i) {
        const auto use = cache.use(fmt::format("SELECT {}", i));
        ASSERT_TRUE((*use).executeStep());
        EXPECT_EQ((*use).getColumn(0).getInt64(), static_cast<std::int64_t>(i));
        EXPECT_LE(cache.size(), StatementCache::statements_max);
    }
}

}  // namespace
}  // namespace knell::sqlite
