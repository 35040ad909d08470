#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/error.hpp"

namespace SQLite {
class Database;
}

namespace knell::hermes {

/// One moment of somebody else's SQLite database, open for reading.  Nothing of theirs is created,
/// written, locked or waited for.
///
/// Nobody has it open and nothing waits in a log or journal: it is read in place, and `is_valid`
/// says whether it stayed as it was.  Otherwise a private copy is made of database, log and
/// journal, again until they held still meanwhile; its files have no names any more by the time
/// this exists, so nothing stays behind however this ends.
class Snapshot {
  public:
    enum class How : std::uint8_t { in_place, copied };

    /// `in_use`: somebody may have it open.
    static Result<Snapshot> take(const std::string& path, bool in_use);
    Snapshot(Snapshot&&) noexcept;
    Snapshot& operator=(Snapshot&&) = delete;
    ~Snapshot();

    SQLite::Database& database() { return *database_; }
    How how() const { return how_; }
    /// False once it is known that what was read may be of two moments: read it all again.
    bool is_valid() const;

    /// What tells one state of the files from another.
    struct Marks {
        std::string text;

        bool operator==(const Marks&) const = default;
    };

  private:
    Snapshot(std::string path, How how, Marks marks, std::unique_ptr<SQLite::Database> database);

    std::string path_;
    How how_;
    Marks marks_;
    std::unique_ptr<SQLite::Database> database_;
};

}  // namespace knell::hermes
