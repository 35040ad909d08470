// The columns that are written and read, held against those that the tables have.

#include "store/sqlite/columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/column_names.hpp"
#include "store/sqlite/schema.hpp"

namespace knell::sqlite {
namespace {

using ::testing::UnorderedElementsAreArray;

class ColumnsTest : public ::testing::Test {
  protected:
    ColumnsTest() { migrate(database_); }

    std::vector<std::string> columns_of(const std::string& table) {
        SQLite::Statement select(database_, "SELECT name FROM pragma_table_info(?)");
        select.bind(1, table);
        std::vector<std::string> names;
        while (select.executeStep()) names.push_back(select.getColumn(0).getString());
        return names;
    }
    static std::vector<std::string> split(const ColumnNames& names) {
        std::vector<std::string> parts{""};
        for (const char letter : names.list()) {
            if (letter == ',') {
                parts.emplace_back();
            } else if (letter != ' ') {
                parts.back() += letter;
            }
        }
        return parts;
    }

    SQLite::Database database_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
};

TEST_F(ColumnsTest, EveryColumnOfATableIsListedOnce) {
    EXPECT_THAT(
        split(names_of<Session>([](auto& names, auto& row) { session_columns(names, row); })),
        UnorderedElementsAreArray(columns_of("sessions")));
    EXPECT_THAT(split(names_of<Event>([](auto& names, auto& row) { event_columns(names, row); })),
                UnorderedElementsAreArray(columns_of("events")));
    EXPECT_THAT(split(names_of<BackgroundProcess>(
                    [](auto& names, auto& row) { process_columns(names, row); })),
                UnorderedElementsAreArray(columns_of("processes")));
    EXPECT_THAT(split(names_of<Subscription>(
                    [](auto& names, auto& row) { subscription_columns(names, row); })),
                UnorderedElementsAreArray(columns_of("subscriptions")));
    auto letters = split(
        names_of<PendingDelivery>([](auto& names, auto& row) { letter_columns(names, row); }));
    letters.emplace_back("event");
    EXPECT_THAT(letters, UnorderedElementsAreArray(columns_of("letters")));
}

TEST_F(ColumnsTest, AnEndIsAsWideAsItIsSaidToBe) {
    const auto names = names_of<End>([](auto& n, auto& row) { end_columns(n, row); });

    EXPECT_EQ(names.size(), static_cast<std::size_t>(end_width));
    EXPECT_EQ(split(names).at(detail_in_end), "detail");
    EXPECT_EQ(names_of<Tally>([](auto& n, auto& row) { tally_columns(n, row); }).assignments(),
              "message_count = ?, input_tokens = ?, output_tokens = ?");
}

TEST_F(ColumnsTest, AnExitIsAsWideAsItIsSaidToBe) {
    const auto names = names_of<ProcessExit>([](auto& n, auto& row) { exit_columns(n, row); });

    EXPECT_EQ(names.size(), static_cast<std::size_t>(exit_width));
    EXPECT_EQ(split(names).front(), "exit_kind") << "it says whether there is one";
}

TEST_F(ColumnsTest, MayBeNamedWithTheirTable) {
    EXPECT_EQ(
        names_of<Tally>([](auto& n, auto& row) { tally_columns(n, row); }).list_of("sessions"),
        "sessions.message_count, sessions.input_tokens, sessions.output_tokens");
}

}  // namespace
}  // namespace knell::sqlite
