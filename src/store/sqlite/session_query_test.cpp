// What a list looks at: by the plans of SQLite, not by time.

#include "store/sqlite/session_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/schema.hpp"

namespace knell::sqlite {
namespace {

using testing::HasSubstr;
using testing::Not;

class SessionQueryTest : public ::testing::Test {
  protected:
    SessionQueryTest() { migrate(database_); }
    std::string plan(const std::string& sql) {
        std::string steps;
        SQLite::Statement explain(database_, "EXPLAIN QUERY PLAN " + sql);
        while (explain.executeStep()) steps += explain.getColumn(3).getString() + "; ";
        return steps;
    }

    SQLite::Database database_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

TEST_F(SessionQueryTest, TheOpenOnesOfASourceAreAllThatIsRead) {
    SessionQuery query;
    query.source = "cli";
    query.ended = false;
    for (const bool has_cursor : {false, true}) {
        if (has_cursor) query.before = 7;
        const auto steps = plan(list_sql(query));
        EXPECT_THAT(steps, HasSubstr("USING INDEX sessions_by_source_open (source=?"));
        EXPECT_THAT(steps, Not(HasSubstr("TEMP B-TREE"))) << "nothing is sorted";
    }
    query.ended = true;
    EXPECT_THAT(plan(list_sql(query)), HasSubstr("sessions_by_source_ended (source=?"));
}

TEST_F(SessionQueryTest, FoldedOnesAreCountedInAnIndexOfThem) {
    for (const std::optional<bool> ended : {std::optional<bool>{}, {true}, {false}}) {
        SessionQuery query;
        query.ended = ended;
        EXPECT_THAT(plan(count_folded_sql(query)), HasSubstr("INDEX sessions_folded (fold=?"));
    }
}

}  // namespace
}  // namespace knell::sqlite
