#include "store/sqlite/row.hpp"

#include <fmt/format.h>

#include "store/sqlite/column_names.hpp"
#include "store/sqlite/process_text.hpp"
#include "store/sqlite/row_binder.hpp"
#include "store/sqlite/row_reader.hpp"
#include "store/sqlite/word_lines.hpp"

namespace knell::sqlite {

const std::string& session_list() {
    static const auto list =
        names_of<Session>([](auto& names, auto& row) { session_columns(names, row); }).list();
    return list;
}

const std::string& opened_list() {
    static const auto list =
        names_of<Session>([](auto& names, auto& row) { opened_columns(names, row); }).list();
    return list;
}

const std::string& more_opened_list() {
    static const auto list = names_of<Session>([](auto& names, auto& row) {
                                 opened_columns(names, row);
                                 more_opened_columns(names, row);
                             }).list();
    return list;
}

const std::string& event_list() {
    static const auto list =
        names_of<Event>([](auto& names, auto& row) { event_columns(names, row); }).list();
    return list;
}

const std::string& process_list() {
    static const auto list = names_of<BackgroundProcess>([](auto& names, auto& row) {
                                 process_columns(names, row);
                             }).list_of("processes");
    return list;
}

Session read_session(SQLite::Statement& row) {
    RowReader reader(WrappedRow{row});
    Session session;
    try {
        session_columns(reader, session);
    } catch (const SQLite::Exception& exception) {
        throw SQLite::Exception(fmt::format("session {}: {}", session.id.text(), exception.what()),
                                exception.getErrorCode());
    }
    return session;
}

std::optional<Session> read_one(SQLite::Statement& select) {
    // A statement that is kept must not hold on to the snapshot it read.
    struct Rewind {
        SQLite::Statement& select;
        ~Rewind() { select.tryReset(); }
    } const rewind{select};
    if (!select.executeStep()) return std::nullopt;
    return read_session(select);
}

Event read_event(sqlite3_stmt* row) {
    RowReader reader(BareRow{row});
    Event event;
    try {
        event_columns(reader, event);
    } catch (const SQLite::Exception& exception) {
        throw SQLite::Exception(fmt::format("event {}: {}", event.seq, exception.what()),
                                exception.getErrorCode());
    }
    return event;
}

BackgroundProcess read_process(SQLite::Statement& row) {
    RowReader reader(WrappedRow{row});
    BackgroundProcess process;
    try {
        process_columns(reader, process);
    } catch (const SQLite::Exception& exception) {
        throw SQLite::Exception(fmt::format("process {}: {}", process.id.text(), exception.what()),
                                exception.getErrorCode());
    }
    return process;
}

Binder& Binder::text(const std::string& value) {
    statement_.bindNoCopy(next_++, value);
    return *this;
}

Binder& Binder::optional(const std::string& value) {
    return value.empty() ? null() : text(value);
}

Binder& Binder::word(std::string_view literal) {
    if (literal.empty()) return null();
    statement_.bindNoCopy(next_++, literal.data());  // a literal ends in NUL
    return *this;
}

Binder& Binder::number(std::int64_t value) {
    statement_.bind(next_++, value);
    return *this;
}

Binder& Binder::null() {
    statement_.bind(next_++);
    return *this;
}

Binder& Binder::time(std::optional<WallTime> value) {
    return value ? number(to_millis(*value)) : null();
}

Binder& Binder::owner(const Owner& owner) {
    RowBinder columns(*this);
    owner_columns(columns, owner);
    return *this;
}

Binder& Binder::tally(const Tally& tally) {
    RowBinder columns(*this);
    tally_columns(columns, tally);
    return *this;
}

Binder& Binder::end(const End& end) {
    RowBinder columns(*this);
    end_columns(columns, end);
    return *this;
}

Binder& Binder::opened(const Session& session) {
    RowBinder columns(*this);
    opened_columns(columns, session);
    return *this;
}

Binder& Binder::more_opened(const Session& session) {
    RowBinder columns(*this);
    opened_columns(columns, session);
    more_opened_columns(columns, session);
    return *this;
}

Binder& Binder::event(const Event& event) {
    RowBinder columns(*this);
    event_columns(columns, event);
    return *this;
}

Binder& Binder::words(const std::vector<std::string>& words) {
    return words.empty() ? null() : text(kept_.emplace_back(to_lines(words)));
}

Binder& Binder::process(const std::optional<BackgroundProcess>& process) {
    return process ? text(kept_.emplace_back(to_text(*process))) : null();
}

Binder& Binder::compression(const std::optional<Compression>& compression) {
    return compression ? text(kept_.emplace_back(to_text(*compression))) : null();
}

Binder& Binder::stuck(const std::optional<Stuck>& stuck) {
    return stuck ? text(kept_.emplace_back(to_text(*stuck))) : null();
}

Binder& Binder::process_row(const BackgroundProcess& process) {
    RowBinder columns(*this);
    process_columns(columns, process);
    return *this;
}

Binder& Binder::activity(const ActivityFacts& activity) {
    RowBinder columns(*this);
    activity_columns(columns, activity);
    return *this;
}

Binder& Binder::exit(const ProcessExit& exit) {
    RowBinder columns(*this);
    exit_columns(columns, exit);
    return *this;
}

Binder& Binder::lines(const std::vector<ProcessIdentity>& processes) {
    return processes.empty() ? null() : text(kept_.emplace_back(to_lines(processes)));
}

Binder& Binder::lines(const std::vector<Leftover>& leftovers) {
    return leftovers.empty() ? null() : text(kept_.emplace_back(to_lines(leftovers)));
}

Binder& Binder::lines(const std::vector<Blocker>& blockers) {
    return blockers.empty() ? null() : text(kept_.emplace_back(to_lines(blockers)));
}

Binder& Binder::lines(const std::vector<ProcessId>& ids) {
    if (ids.empty()) return null();
    auto& lines = kept_.emplace_back();
    for (const auto& id : ids) add_line(lines, id.text());
    return text(lines);
}

Binder& Binder::labels(const std::optional<Labels>& labels, bool after_end) {
    if (!labels) return after_end ? word("+") : null();
    return text(kept_.emplace_back((after_end ? "+" : "") + to_text(*labels)));
}

Binder& Binder::listened(SteadyTime value) {
    // Up, so that a lease is never a millisecond short.
    return number(std::chrono::ceil<std::chrono::milliseconds>(value.time_since_epoch()).count());
}

Binder& Binder::listened(std::optional<SteadyTime> value) {
    return value ? listened(*value) : null();
}

}  // namespace knell::sqlite
