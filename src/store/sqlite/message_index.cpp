#include "store/sqlite/message_index.hpp"

#include <algorithm>
#include <string>

#include <sqlite3.h>

#include "store/sqlite/row.hpp"
#include "store/sqlite/statement_reset.hpp"

namespace knell::sqlite {

namespace {

/// So many, or so long; one at least.
class Allowance {
  public:
    Allowance(std::size_t messages, std::size_t bytes) : messages_(messages), bytes_(bytes) {}
    bool is_spent() const { return messages_ == 0 || bytes_ == 0; }
    void spend(std::size_t bytes) {
        --messages_;
        bytes_ -= std::min(bytes, bytes_);
    }

  private:
    std::size_t messages_;
    std::size_t bytes_;
};

}  // namespace

MessageIndex::MessageIndex(SQLite::Database& database)
    : database_(database),
      next_(database, "SELECT doc, content FROM messages WHERE doc > ? ORDER BY doc"),
      put_in_(database, "INSERT INTO messages_fts (rowid, content) VALUES (?, ?)"),
      move_mark_(database, "UPDATE message_index SET through = ?"),
      deleted_(database, "SELECT doc, content FROM deleted_messages ORDER BY doc"),
      take_out_(database,
                "INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', ?, ?)"),
      forget_(database, "DELETE FROM deleted_messages WHERE doc <= ?") {}

bool MessageIndex::is_behind() const {
    return is_more_ || sqlite3_total_changes64(database_.getHandle()) != changes_seen_;
}

bool MessageIndex::catch_up(std::size_t messages_max, std::size_t bytes_max) {
    SQLite::Transaction transaction(database_);
    const bool is_clean = take_out_deleted(messages_max, bytes_max);
    const bool is_all = is_clean && put_in_new(messages_max, bytes_max);
    transaction.commit();
    is_more_ = !is_all;
    changes_seen_ = sqlite3_total_changes64(database_.getHandle());
    return is_more_;
}

bool MessageIndex::take_out_deleted(std::size_t messages_max, std::size_t bytes_max) {
    Allowance allowance(messages_max, bytes_max);
    std::int64_t last = 0;
    bool is_more = false;
    deleted_.tryReset();
    const StatementReset reset(deleted_);
    while (deleted_.executeStep()) {
        is_more = allowance.is_spent();
        if (is_more) break;
        last = deleted_.getColumn(0).getInt64();
        const auto content = deleted_.getColumn(1).getString();
        Binder(take_out_).number(last).text(content).run();
        allowance.spend(content.size());
    }
    if (last > 0) Binder(forget_).number(last).run();
    return !is_more;
}

bool MessageIndex::put_in_new(std::size_t messages_max, std::size_t bytes_max) {
    const auto through = database_.execAndGet("SELECT through FROM message_index").getInt64();
    Allowance allowance(messages_max, bytes_max);
    auto last = through;
    bool is_more = false;
    Binder(next_).number(through);
    const StatementReset reset(next_);
    while (next_.executeStep()) {
        is_more = allowance.is_spent();
        if (is_more) break;
        last = next_.getColumn(0).getInt64();
        const auto content = next_.getColumn(1).getString();
        Binder(put_in_).number(last).text(content).run();
        allowance.spend(content.size());
    }
    if (last > through) Binder(move_mark_).number(last).run();
    return !is_more;
}

}  // namespace knell::sqlite
