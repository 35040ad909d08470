#pragma once

#include <cstdint>

#include <SQLiteCpp/SQLiteCpp.h>

namespace knell::sqlite {

/// Keeps the search index behind the messages, a batch at a time, on the connection that writes.
/// How far it is stands beside it and changes in the same transaction: a message is in the index,
/// or behind that mark, or deleted and in neither.  Throws SQLite::Exception.
class MessageIndex {
  public:
    explicit MessageIndex(SQLite::Database& database);

    /// False: this connection changed nothing since there was nothing left to do.
    bool is_behind() const;
    /// In one transaction; see Store.
    bool catch_up(std::size_t messages_max, std::size_t bytes_max);

  private:
    bool take_out_deleted(std::size_t messages_max, std::size_t bytes_max);
    bool put_in_new(std::size_t messages_max, std::size_t bytes_max);

    SQLite::Database& database_;
    SQLite::Statement next_;
    SQLite::Statement put_in_;
    SQLite::Statement move_mark_;
    SQLite::Statement deleted_;
    SQLite::Statement take_out_;
    SQLite::Statement forget_;
    bool is_more_ = true;  // nobody looked yet
    std::int64_t changes_seen_ = 0;
};

}  // namespace knell::sqlite
