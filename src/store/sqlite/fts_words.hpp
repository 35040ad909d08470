#pragma once

struct sqlite3;

namespace knell::sqlite {

/// Teaches a connection what the search index is made with: the tokenizer "knell", which is
/// WordReader, and the function knell_score(messages_fts), which is SearchScore.  Before it touches
/// that table; once more does nothing.  Gives SQLite's status.
int add_search_functions(sqlite3* connection);

}  // namespace knell::sqlite
