// What no reader tells: columns that are only written.

#include "store/sqlite/sqlite_writer.hpp"

#include <gtest/gtest.h>

#include "store/sqlite/schema.hpp"

namespace knell::sqlite {
namespace {

constexpr auto noon = from_millis(1'800'000'000'000);

class BatchWriterTest : public ::testing::Test {
  protected:
    BatchWriterTest() { migrate(database_); }

    void must(std::vector<Change> changes) {
        Batch batch;
        batch.changes = std::move(changes);
        const auto written = writer().write(batch);
        ASSERT_TRUE(written) << written.error().message;
    }
    std::int64_t number(const char* sql) { return database_.execAndGet(sql).getInt64(); }

  private:
    BatchWriter& writer() {
        if (!writer_) writer_.emplace(database_);
        return *writer_;
    }

    SQLite::Database database_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    std::optional<BatchWriter> writer_;
};

Session session(Ordinal ordinal) {
    Session session;
    session.ordinal = ordinal;
    session.id = SessionId("s" + std::to_string(ordinal));
    session.source = "cli";
    session.last_activity_at = session.last_interaction_at = session.last_seen_at = noon;
    return session;
}

TEST_F(BatchWriterTest, ACopiedMessageKeepsItsTime) {
    const SessionRef a{SessionId("s1"), 1, 1};
    const SessionRef b{SessionId("s2"), 2, 1};
    const Message said{.role = "user", .content = "x", .tool_name = "", .tokens = 1};

    must({Opened{.session = session(1), .reaper = {}}, Opened{.session = session(2), .reaper = {}},
          Appended{a, 1, {said}, {1, 1, 0}, noon},
          Appended{a, 2, {said}, {2, 2, 0}, noon + std::chrono::seconds{5}},
          MessagesCopied{b, 1, /*after=*/1, /*first_number=*/1, {1, 1, 0}}});

    EXPECT_EQ(number("SELECT at FROM messages WHERE session = 2 AND number = 1"),
              to_millis(noon) + 5000);
    EXPECT_EQ(number("SELECT count(*) FROM messages WHERE session = 2"), 1);
}

TEST_F(BatchWriterTest, AnInteractionIsWrittenDownOnlyWhereItIsNotTheLastActivity) {
    const SessionRef a{SessionId("s1"), 1, 1};
    must({Opened{.session = session(1), .reaper = {}}});
    EXPECT_EQ(number("SELECT last_interaction_at IS NULL FROM sessions"), 1);

    Appended append{a, 1, {}, {}, noon + std::chrono::seconds{5}};
    append.is_interaction = false;
    must({append});
    EXPECT_EQ(number("SELECT last_interaction_at FROM sessions"), to_millis(noon));
    append.is_interaction = true;
    must({append});
    EXPECT_EQ(number("SELECT last_interaction_at IS NULL FROM sessions"), 1);
}

}  // namespace
}  // namespace knell::sqlite
