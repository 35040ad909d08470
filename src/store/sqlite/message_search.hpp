#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/search.hpp"

namespace knell::sqlite {

/// Finds messages, of one moment: first among those that are not in the index yet, by looking at
/// them, then by the index.  With a session given, only that one's are looked at.  Throws
/// SQLite::Exception.
class MessageSearch {
  public:
    explicit MessageSearch(SQLite::Database& database);

    SearchPage find(const SearchQuery& query);

  private:
    class Run;

    SQLite::Database& database_;
    SQLite::Statement through_;
    SQLite::Statement session_;
    SQLite::Statement about_;
    SQLite::Statement of_session_;
    SQLite::Statement behind_;
    SQLite::Statement recent_;
    SQLite::Statement scored_;
    SQLite::Statement found_;
};

}  // namespace knell::sqlite
