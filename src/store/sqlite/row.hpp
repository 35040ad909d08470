#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/background_process.hpp"
#include "core/event.hpp"
#include "core/session.hpp"

namespace knell::sqlite {

/// The columns of a session, an event and a process (columns.hpp), in the order `read_*` and Binder
/// take them.
const std::string& session_list();
const std::string& opened_list();       // of a new one
const std::string& more_opened_list();  // of one that has more to say: see has_more_to_open
const std::string& event_list();
const std::string& process_list();  // each with the table's name

Session read_session(SQLite::Statement& row);
/// The first row, if there is one; the statement is bound already.
std::optional<Session> read_one(SQLite::Statement& select);
Event read_event(sqlite3_stmt* row);
BackgroundProcess read_process(SQLite::Statement& row);

/// Binds parameters one after the other.  Text is not copied: it must outlive the step.
class Binder {
  public:
    explicit Binder(SQLite::Statement& statement) : statement_(statement) { statement_.tryReset(); }

    Binder& text(const std::string& value);      // "" is text
    Binder& optional(const std::string& value);  // "" is NULL
    Binder& word(std::string_view literal);      // from a table of names; "" is NULL
    Binder& number(std::int64_t value);
    Binder& null();
    Binder& time(WallTime value) { return number(to_millis(value)); }
    Binder& time(std::optional<WallTime> value);
    Binder& owner(const Owner& owner);
    Binder& tally(const Tally& tally);
    Binder& end(const End& end);
    /// One a line; none is NULL.
    Binder& lines(const std::vector<ProcessIdentity>& processes);
    Binder& lines(const std::vector<Leftover>& leftovers);
    Binder& lines(const std::vector<Blocker>& blockers);
    Binder& lines(const std::vector<ProcessId>& ids);
    /// With a "+" before them, or alone: told after the end.
    Binder& labels(const std::optional<Labels>& labels, bool after_end);
    Binder& listened(SteadyTime value);
    Binder& listened(std::optional<SteadyTime> value);
    Binder& opened(const Session& session);
    Binder& more_opened(const Session& session);
    Binder& event(const Event& event);
    Binder& words(const std::vector<std::string>& words);              // none is NULL
    Binder& process(const std::optional<BackgroundProcess>& process);  // as one text
    Binder& compression(const std::optional<Compression>& compression);
    Binder& stuck(const std::optional<Stuck>& stuck);
    Binder& process_row(const BackgroundProcess& process);
    Binder& activity(const ActivityFacts& activity);
    Binder& exit(const ProcessExit& exit);

    /// Runs it to its end and gives the number of rows it changed.
    int run() { return statement_.exec(); }

  private:
    SQLite::Statement& statement_;
    int next_ = 1;
    std::deque<std::string> kept_;  // outlives the step
};

}  // namespace knell::sqlite
