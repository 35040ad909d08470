#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include <SQLiteCpp/SQLiteCpp.h>

namespace knell::sqlite {

/// Statements that are put together from filters, kept once they are prepared: to parse one takes
/// longer than to find a few rows with it.  Throws SQLite::Exception.  One thread.
class StatementCache {
  public:
    explicit StatementCache(SQLite::Database& database) : database_(database) {}

    /// One that is used now, by one at a time.  When this goes it is over: a statement that is not
    /// would keep its view of the store.
    class Use {
      public:
        explicit Use(SQLite::Statement& statement) : statement_(statement) {}
        ~Use() { statement_.tryReset(); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        SQLite::Statement& operator*() const { return statement_; }

      private:
        SQLite::Statement& statement_;
    };

    Use use(const std::string& sql) {
        if (const auto found = statements_.find(sql); found != statements_.end()) {
            found->second->clearBindings();
            return Use(*found->second);
        }
        // There are not many ways to combine the filters; whoever tries them all gains nothing.
        if (statements_.size() >= statements_max) statements_.clear();
        auto prepared = std::make_unique<SQLite::Statement>(database_, sql);
        return Use(*statements_.emplace(sql, std::move(prepared)).first->second);
    }

    std::size_t size() const { return statements_.size(); }

    static constexpr std::size_t statements_max = 32;

  private:
    SQLite::Database& database_;
    std::unordered_map<std::string, std::unique_ptr<SQLite::Statement>> statements_;
};

}  // namespace knell::sqlite
