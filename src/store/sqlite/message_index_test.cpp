// What of the index no reader tells: that what was deleted leaves it, and that no number comes
// twice.

#include "store/sqlite/message_index.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/message_search.hpp"
#include "store/sqlite/schema.hpp"

namespace knell::sqlite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MessageIndexTest : public ::testing::Test {
  protected:
    MessageIndexTest() {
        migrate(database_);
        database_.exec(
            "INSERT INTO sessions (ordinal, id, source, generation, owner_kind, owner_since, "
            "on_owner_loss, started_at, last_activity_at, message_count, input_tokens, "
            "output_tokens, fold) VALUES (1, 'a', 'cli', 1, 'lease', 0, 'end', 0, 0, 0, 0, 0, 0)");
        index_.emplace(database_);
        search_.emplace(database_);
    }

    void say(int number, const std::string& content) {
        database_.exec(
            fmt::format("INSERT INTO messages (session, number, at, role, content, tokens) "
                        "VALUES (1, {}, 0, 'user', '{}', 0)",
                        number, content));
    }
    void remove(int number) {
        database_.exec(
            fmt::format("DELETE FROM messages WHERE session = 1 AND number = {}", number));
    }
    void index_all() { EXPECT_FALSE(index_->catch_up(SIZE_MAX, SIZE_MAX)); }
    std::vector<std::string> found(std::string_view text) {
        SearchQuery query;
        query.terms = parse_search_terms(text).value();
        query.limit = 10;
        std::vector<std::string> texts;
        for (const auto& message : search_->find(query).messages) {
            texts.push_back(message.snippet.text);
        }
        return texts;
    }
    std::int64_t number(const std::string& sql) { return database_.execAndGet(sql).getInt64(); }
    /// In the index itself, whatever became of the message.
    std::int64_t indexed(const std::string& word) {
        return number(
            fmt::format("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH '{}'", word));
    }
    void expect_sound() {
        database_.exec("INSERT INTO messages_fts (messages_fts) VALUES ('integrity-check')");
    }

    SQLite::Database database_{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    std::optional<MessageIndex> index_;
    std::optional<MessageSearch> search_;
};

TEST_F(MessageIndexTest, GoesAStepAtATime) {
    for (int i = 1; i <= 5; ++i) say(i, fmt::format("word{}", i));
    EXPECT_TRUE(index_->is_behind());
    EXPECT_TRUE(index_->catch_up(2, SIZE_MAX));
    EXPECT_EQ(number("SELECT through FROM message_index"), 2);
    EXPECT_TRUE(index_->catch_up(SIZE_MAX, 6)) << "one that fits, and the one that passes it";
    EXPECT_EQ(number("SELECT through FROM message_index"), 4);
    EXPECT_EQ(indexed("word4"), 1);
    EXPECT_EQ(indexed("word5"), 0);
    EXPECT_THAT(found("word*"), ElementsAre("word5", "word4", "word3", "word2", "word1"));
    EXPECT_FALSE(index_->catch_up(2, SIZE_MAX));
    EXPECT_FALSE(index_->is_behind());
    say(6, "more");
    EXPECT_TRUE(index_->is_behind());
    expect_sound();
}

TEST_F(MessageIndexTest, WhatWasDeletedIsNotFoundAndLeavesIt) {
    say(1, "one word");
    say(2, "two word");
    index_all();
    remove(1);
    EXPECT_THAT(found("word"), ElementsAre("two word"));
    EXPECT_EQ(indexed("one"), 1);
    EXPECT_TRUE(index_->is_behind());
    index_all();
    EXPECT_EQ(indexed("one"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM deleted_messages"), 0) << "nor is its text kept there";
    EXPECT_THAT(found("word"), ElementsAre("two word"));
    expect_sound();
}

TEST_F(MessageIndexTest, WhatWasDeletedBeforeItWasInItLeavesNothing) {
    say(1, "one");
    remove(1);
    EXPECT_EQ(number("SELECT count(*) FROM deleted_messages"), 0);
    index_all();
    EXPECT_THAT(found("one"), IsEmpty());
    expect_sound();
}

TEST_F(MessageIndexTest, WhatIsDeletedLeavesAStepAtATimeToo) {
    for (int i = 1; i <= 3; ++i) say(i, "word");
    index_all();
    database_.exec("DELETE FROM messages");
    say(4, "new word");
    EXPECT_TRUE(index_->catch_up(2, SIZE_MAX));
    EXPECT_EQ(number("SELECT count(*) FROM deleted_messages"), 1);
    EXPECT_THAT(found("word"), ElementsAre("new word"));
    index_all();
    EXPECT_EQ(indexed("word"), 1);
    EXPECT_THAT(found("word"), ElementsAre("new word"));
    expect_sound();
}

TEST_F(MessageIndexTest, TheNumberOfTheNewestIsNotGivenAgain) {
    say(1, "one");
    index_all();
    remove(1);
    say(1, "another");
    EXPECT_THAT(found("another"), ElementsAre("another"));
    EXPECT_THAT(found("one"), IsEmpty());
    index_all();
    EXPECT_THAT(found("another"), ElementsAre("another"));
    EXPECT_THAT(found("one"), IsEmpty());
}

TEST_F(MessageIndexTest, AVacuumChangesNoNumber) {
    for (int i = 1; i <= 4; ++i) say(i, fmt::format("word{}", i));
    index_all();
    remove(2);
    index_all();
    database_.exec("VACUUM");
    EXPECT_THAT(found("word*"), ElementsAre("word4", "word3", "word1"));
    expect_sound();
}

TEST_F(MessageIndexTest, AStepThatFailsLeavesItAsItWas) {
    say(1, "one");
    index_all();
    say(2, "two");
    database_.exec(
        "CREATE TRIGGER refused BEFORE UPDATE ON message_index BEGIN "
        "SELECT raise(ABORT, 'refused'); END");
    EXPECT_THROW(index_->catch_up(SIZE_MAX, SIZE_MAX), SQLite::Exception);
    EXPECT_TRUE(index_->is_behind());
    EXPECT_EQ(indexed("two"), 0);
    EXPECT_THAT(found("two"), ElementsAre("two"));
    database_.exec("DROP TRIGGER refused");
    index_all();
    EXPECT_EQ(indexed("two"), 1);
    expect_sound();
}

TEST_F(MessageIndexTest, SearchesGoByTheIndexAndTheMark) {
    const auto plan = [&](const std::string& sql) {
        std::string steps;
        SQLite::Statement explain(database_, "EXPLAIN QUERY PLAN " + sql);
        while (explain.executeStep()) steps += explain.getColumn(3).getString() + "; ";
        return steps;
    };
    EXPECT_THAT(plan("SELECT doc FROM messages WHERE doc > 1 AND doc < 5 ORDER BY doc DESC"),
                testing::HasSubstr("INTEGER PRIMARY KEY (rowid>? AND rowid<?)"));
    const auto by_index = plan(
        "SELECT messages_fts.rowid FROM messages_fts CROSS JOIN messages ON doc = "
        "messages_fts.rowid WHERE messages_fts MATCH 'x' AND messages_fts.rowid <= 5 "
        "ORDER BY messages_fts.rowid DESC");
    EXPECT_THAT(by_index, testing::HasSubstr("messages_fts VIRTUAL TABLE INDEX"));
    EXPECT_THAT(by_index, testing::Not(testing::HasSubstr("TEMP B-TREE"))) << by_index;
}

}  // namespace
}  // namespace knell::sqlite
