#include "store/sqlite/process_rows.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "store/apply.hpp"
#include "store/page_bytes.hpp"
#include "store/sqlite/column_names.hpp"
#include "store/sqlite/row.hpp"

namespace knell::sqlite {

namespace {

constexpr std::string_view its_row = "WHERE number = ? AND id = ? AND exit_kind IS NULL";

ColumnNames process_names() {
    return names_of<BackgroundProcess>([](auto& names, auto& row) { process_columns(names, row); });
}

std::string insert_sql() {
    const auto names = process_names();
    std::string marks = "?";
    for (std::size_t i = 1; i < names.size(); ++i) marks += ",?";
    return fmt::format("INSERT INTO processes ({}) VALUES ({})", names.list(), marks);
}

std::string update_sql(const std::string& assignments) {
    return fmt::format("UPDATE processes SET {} {}", assignments, its_row);
}

std::string exit_assignments() {
    return names_of<ProcessExit>([](auto& names, auto& row) { exit_columns(names, row); })
        .assignments();
}

std::string activity_assignments() {
    return names_of<ActivityFacts>([](auto& names, auto& row) { activity_columns(names, row); })
        .assignments();
}

/// Of whichever row the statement gives: its columns, whether there is a session, and its end.
std::string select_from(std::string_view tables) {
    return fmt::format("SELECT {}, sessions.ordinal, sessions.ended_at FROM {}", process_list(),
                       tables);
}

ProcessOnRecord read_on_record(SQLite::Statement& row) {
    using Standing = ProcessOnRecord::Session;
    static const auto width = static_cast<int>(process_names().size());
    ProcessOnRecord found{read_process(row), Standing::none};
    if (row.getColumn(width).isNull()) return found;
    found.session = row.getColumn(width + 1).isNull() ? Standing::open : Standing::ended;
    return found;
}

/// The same for those that run and those that do not.
std::string narrowed(const ProcessQuery& query, std::string where) {
    if (!query.session_id.empty()) where += " AND processes.session_id = :session";
    if (!query.key.empty()) where += " AND sessions.key = :key";
    if (query.before) where += " AND processes.number < :before";
    return where;
}

/// Indexes and the order of the loops are named outright, as in a list of sessions.
std::string joined(const ProcessQuery& query, std::string_view index) {
    // Who asks for a key wants none without a session.
    return fmt::format("processes {} {} JOIN sessions ON sessions.id = processes.session_id", index,
                       query.key.empty() ? "LEFT" : "CROSS");
}

/// There are only ever so many of them.
std::string running_sql(const ProcessQuery& query) {
    const auto* index = query.session_id.empty() ? "INDEXED BY processes_running"
                                                 : "INDEXED BY processes_running_by_session";
    return select_from(joined(query, index)) +
           narrowed(query, " WHERE processes.exit_kind IS NULL");
}

/// The whole history may be long: nobody who asks for a part of it pays for the rest.
std::string exited_sql(const ProcessQuery& query) {
    const bool is_all = to_millis(*query.exited_since) <= 0;
    std::string where = " WHERE processes.exit_kind IS NOT NULL";
    if (!is_all) where += " AND processes.exited_before >= :since";
    where = narrowed(query, std::move(where));
    if (!query.session_id.empty()) {
        return select_from(joined(query, "INDEXED BY processes_by_session")) + where;
    }
    if (!is_all) return select_from(joined(query, "INDEXED BY processes_exited")) + where;
    if (query.key.empty()) return select_from(joined(query, "NOT INDEXED")) + where;
    return select_from(
               "sessions INDEXED BY sessions_by_key CROSS JOIN processes INDEXED BY "
               "processes_by_session ON processes.session_id = sessions.id") +
           where;
}

std::string list_sql(const ProcessQuery& query) {
    std::string rows;
    if (query.running) rows = running_sql(query);
    if (query.exited_since) rows += (rows.empty() ? "" : " UNION ALL ") + exited_sql(query);
    return rows + " ORDER BY 1 DESC LIMIT :limit";  // by number
}

}  // namespace

ProcessWriter::ProcessWriter(SQLite::Database& database)
    : open_(database, insert_sql()),
      end_(database, update_sql(exit_assignments())),
      mark_(database, update_sql(activity_assignments() + ", stale_since = ?")),
      vouch_(database, update_sql("vouched_until = ?")),
      ask_stop_(database, update_sql("stop_asked_at = ?, stop_asked_by = ?")),
      hand_over_(database, update_sql("session_id = ?, generation = ?")),
      stands_(database, fmt::format("SELECT {} FROM processes WHERE number = ?", process_list())) {}

bool ProcessWriter::put(const ProcessOpened& change) {
    return Binder(open_).process_row(change.process).run() == 1;
}

bool ProcessWriter::put(const ProcessEnded& change) {
    return Binder(end_).exit(change.exit).number(change.number).text(change.id.text()).run() == 1;
}

bool ProcessWriter::put(const ProcessMarked& change) {
    Binder bind(mark_);
    bind.activity(change.activity).time(change.stale_since);
    return bind.number(change.number).text(change.id.text()).run() == 1;
}

bool ProcessWriter::put(const ProcessVouched& change) {
    return Binder(vouch_).time(change.until).number(change.number).text(change.id.text()).run() ==
           1;
}

bool ProcessWriter::put(const ProcessStopAsked& change) {
    Binder bind(ask_stop_);
    bind.time(change.at).optional(change.by);
    return bind.number(change.number).text(change.id.text()).run() == 1;
}

bool ProcessWriter::put(const ProcessHandedOver& change) {
    Binder bind(hand_over_);
    bind.text(change.session_id.text()).number(change.generation);
    return bind.number(change.number).text(change.id.text()).run() == 1;
}

Error ProcessWriter::conflict(const Change& change) {
    Binder(stands_).number(process_ref_of(change)->number);
    std::optional<BackgroundProcess> row;
    if (stands_.executeStep()) row = read_process(stands_);
    stands_.reset();
    return conflict_of(change, row ? &*row : nullptr);
}

ProcessPage read_processes(StatementCache& statements, const ProcessQuery& query) {
    ProcessPage page;
    if (!query.running && !query.exited_since) return page;
    const auto use = statements.use(list_sql(query));
    auto& select = *use;
    if (!query.session_id.empty()) select.bindNoCopy(":session", query.session_id.text());
    if (!query.key.empty()) select.bindNoCopy(":key", query.key);
    if (query.before) select.bind(":before", *query.before);
    if (query.exited_since && to_millis(*query.exited_since) > 0) {
        select.bind(":since", to_millis(*query.exited_since));
    }
    // One more than asked for tells whether there is a next page.
    select.bind(":limit", static_cast<std::int64_t>(query.limit) + 1);
    std::size_t bytes = 0;
    while (select.executeStep()) {
        if (page.processes.size() == query.limit || bytes >= query.bytes_max) {
            page.next = page.processes.back().process.number;
            break;
        }
        page.processes.push_back(read_on_record(select));
        bytes += page_bytes(page.processes.back().process);
    }
    return page;
}

std::optional<ProcessOnRecord> read_process(SQLite::Database& database, const ProcessId& id) {
    SQLite::Statement select(
        database,
        select_from("processes INDEXED BY processes_by_id LEFT JOIN sessions ON sessions.id = "
                    "processes.session_id") +
            " WHERE processes.id = ? ORDER BY processes.number DESC LIMIT 1");
    Binder(select).text(id.text());
    if (!select.executeStep()) return std::nullopt;
    return read_on_record(select);
}

void visit_running(SQLite::Database& database,
                   const std::function<void(const BackgroundProcess&)>& visit) {
    SQLite::Statement select(database,
                             fmt::format("SELECT {} FROM processes INDEXED BY processes_running "
                                         "WHERE exit_kind IS NULL ORDER BY number",
                                         process_list()));
    while (select.executeStep()) visit(read_process(select));
}

}  // namespace knell::sqlite
