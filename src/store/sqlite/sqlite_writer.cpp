#include "store/sqlite/sqlite_writer.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "store/apply.hpp"
#include "store/sqlite/column_names.hpp"
#include "store/sqlite/row.hpp"

namespace knell::sqlite {

namespace {

/// Rows in one INSERT: each run of a statement opens the table and all its indexes anew, a third of
/// what writing a row costs.
constexpr std::size_t rows_at_once = 8;

// OR FAIL leaves the rows before the one that failed, where the default would take them back: for
// that SQLite keeps copies of pages in a temporary file, at twice the system time.  Whatever fails
// here is taken back whole, with its transaction.
std::string insert_into(std::string_view table, const std::string& columns, std::size_t rows) {
    std::string row = "(?";
    for (auto commas = std::ranges::count(columns, ','); commas > 0; --commas) row += ",?";
    row += ')';
    auto sql = fmt::format("INSERT OR FAIL INTO {} ({}) VALUES ", table, columns);
    for (std::size_t i = 0; i < rows; ++i) sql += (i == 0 ? "" : ",") + row;
    return sql;
}

ColumnNames owner_names() {
    return names_of<Owner>([](auto& names, auto& row) { owner_columns(names, row); });
}
ColumnNames end_names() {
    return names_of<End>([](auto& names, auto& row) { end_columns(names, row); });
}
ColumnNames tally_names() {
    return names_of<Tally>([](auto& names, auto& row) { tally_columns(names, row); });
}

/// One that is opened with no more than nearly all are.
bool is_plainly_opened(const Change& change) {
    const auto* opened = std::get_if<Opened>(&change);
    return opened != nullptr && !has_more_to_open(opened->session);
}

/// NULL is last_activity_at, which what is no interaction moves on: it is written down before.
constexpr std::string_view interaction =
    "last_interaction_at = CASE WHEN ? THEN NULL ELSE coalesce(last_interaction_at, "
    "last_activity_at) END";

}  // namespace

BatchWriter::BatchWriter(SQLite::Database& database)
    : open_(database, insert_into("sessions", opened_list(), 1)),
      stands_(database, fmt::format("SELECT {} FROM sessions WHERE ordinal = ?", session_list())),
      open_many_(database, insert_into("sessions", opened_list(), rows_at_once)),
      open_more_(database, insert_into("sessions", more_opened_list(), 1)),
      reopen_(database,
              fmt::format("UPDATE sessions SET generation = ?, {}, title = coalesce(?, title), "
                          "cwd = coalesce(?, cwd), on_owner_loss = ?, "
                          "park_window_s = ?, leftovers_policy = ?, last_activity_at = ?, "
                          "last_seen_at = NULL, {}, fold = ?, key_taken = ?, former_owners = ?, "
                          "lease_from = ?, "
                          "turn_since = NULL, unknown_since = NULL, stalled_since = NULL, "
                          "parked_since = NULL, parked_before = NULL, park_why = NULL, "
                          "background_since = NULL, reset_held_since = NULL, "
                          "reset_held_by = NULL, successor_id = NULL, "
                          "detached_since = CASE WHEN attached = 0 THEN ? END, {} "
                          "WHERE ordinal = ? AND generation = ?",
                          owner_names().assignments(), interaction, end_names().cleared())),
      end_(database,
           fmt::format("UPDATE sessions SET {}, fold = ?, turn_since = NULL, unknown_since = NULL, "
                       "stalled_since = NULL, parked_since = NULL, parked_before = NULL, "
                       "park_why = NULL, attached = 0, attach_told = 0, "
                       "detached_since = NULL, background_since = NULL, "
                       "reset_held_since = NULL, reset_held_by = NULL, successor_id = ? "
                       "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL",
                       end_names().assignments())),
      count_(database,
             fmt::format("UPDATE sessions SET {}, last_activity_at = ?, last_seen_at = NULL, {} "
                         "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL",
                         tally_names().assignments(), interaction)),
      message_(database,
               "INSERT INTO messages (session, number, at, role, content, tool_name, tokens) "
               "VALUES (?,?,?,?,?,?,?)"),
      recount_(database, fmt::format("UPDATE sessions SET {} WHERE ordinal = ? AND generation = ? "
                                     "AND ended_at IS NULL",
                                     tally_names().assignments())),
      copy_(database,
            "INSERT INTO messages (session, number, at, role, content, tool_name, tokens) "
            "SELECT ?, ? - 1 + row_number() OVER (ORDER BY number), at, role, content, tool_name, "
            "tokens FROM messages INDEXED BY messages_by_session "
            "WHERE session = ? AND number > ? ORDER BY number"),
      turn_(database, fmt::format("UPDATE sessions SET turn_since = ?, last_activity_at = ?, "
                                  "last_seen_at = NULL, {}, lease_from = coalesce(?, lease_from), "
                                  "turn_count = turn_count + (? AND turn_since IS NULL), "
                                  "detached_since = CASE WHEN ? THEN detached_since ELSE "
                                  "max(detached_since, ?) END "
                                  "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL",
                                  interaction)),
      attach_(database,
              "UPDATE sessions SET attached = ?, detached_since = ?, attach_told = ?, "
              "lease_from = coalesce(?, lease_from) "
              "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      uncertainty_(database,
                   "UPDATE sessions SET unknown_since = ?, stalled_since = ? "
                   "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      park_(database,
            "UPDATE sessions SET parked_since = ?, parked_before = ?, park_why = ?, "
            "lease_from = ?, turn_since = NULL, "
            "unknown_since = NULL, "
            "stalled_since = NULL WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      seen_(database,
            "UPDATE sessions SET last_seen_at = ?, lease_from = coalesce(?, lease_from) "
            "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      // Nobody was seen by it: what last_seen_at was by last_activity_at is written down before.
      interact_(database,
                "UPDATE sessions SET last_interaction_at = ?, last_seen_at = "
                "coalesce(last_seen_at, last_activity_at), last_activity_at = "
                "max(last_activity_at, ?) "
                "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      suspend_(database,
               "UPDATE sessions SET suspended_at = ?, suspend_why = ? "
               "WHERE ordinal = ? AND generation = ?"),
      take_key_(database,
                "UPDATE sessions SET key_taken = 1 "
                "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      hold_reset_(database,
                  "UPDATE sessions SET reset_held_since = ?, reset_held_by = ? "
                  "WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      settle_(database,
              "UPDATE sessions SET leftovers = ? "
              "WHERE ordinal = ? AND generation = ? AND ended_at IS NOT NULL"),
      label_(database,
             "UPDATE sessions SET title = ?, pinned = ?, fold = ? "
             "WHERE ordinal = ? AND generation = ?"),
      background_(database,
                  "UPDATE sessions SET background_since = ?, lease_from = coalesce(?, lease_from), "
                  "detached_since = CASE WHEN ? THEN detached_since ELSE max(detached_since, ?) "
                  "END WHERE ordinal = ? AND generation = ? AND ended_at IS NULL"),
      alive_(database,
             "INSERT OR REPLACE INTO node "
             "VALUES ('alive_at', ?), ('alive_boot_id', ?), ('alive_boot_ms', ?)"),
      listened_(database, "INSERT OR REPLACE INTO node VALUES ('listened_ms', ?)"),
      begin_life_(database, "INSERT OR IGNORE INTO lives VALUES (?)"),
      forget_lives_(database, "DELETE FROM lives WHERE began_ms <= ?"),
      counts_(database),
      ends_(database,
            "INSERT INTO end_counts VALUES (?, ?, ?, ?) "
            "ON CONFLICT (hour, reason, proof) DO UPDATE SET ends = ends + excluded.ends"),
      newest_(database, "SELECT max(seq) FROM events"),
      event_(database, insert_into("events", event_list(), 1)),
      event_many_(database, insert_into("events", event_list(), rows_at_once)),
      deliveries_(database),
      processes_(database) {}

Result<void> BatchWriter::write(std::span<const Change> changes) {
    while (!changes.empty()) {
        const auto next = changes.first(std::min(changes.size(), rows_at_once));
        if (next.size() == rows_at_once && std::ranges::all_of(next, is_plainly_opened)) {
            Binder bind(open_many_);
            for (const auto& change : next) bind.opened(std::get<Opened>(change).session);
            bind.run();
            changes = changes.subspan(rows_at_once);
        } else {
            const auto& change = changes.front();
            if (!std::visit([this](const auto& c) { return put(c); }, change)) {
                return std::unexpected(conflict(change));
            }
            changes = changes.subspan(1);
        }
    }
    return {};
}

Error BatchWriter::conflict(const Change& change) {
    if (is_of_process(change)) return processes_.conflict(change);
    Binder(stands_).number(ref_of(change)->ordinal);
    const auto row = read_one(stands_);
    return conflict_of(change, row ? &*row : nullptr);
}

Result<void> BatchWriter::write(const Batch& batch) {
    counts_.begin();
    if (auto written = write(std::span(batch.changes)); !written) return written;
    std::span<const Event> events = batch.events;
    if (auto next = check_numbers(events); !next) return next;
    for (; events.size() >= rows_at_once; events = events.subspan(rows_at_once)) {
        Binder bind(event_many_);
        for (const auto& event : events.first(rows_at_once)) bind.event(event);
        bind.run();
    }
    for (const auto& event : events) put(event);
    count_ends(batch.events);
    for (const auto& event : batch.events) counts_.note(event);
    counts_.write();
    deliveries_.write(batch.deliveries);
    if (batch.last_word) {
        const auto& word = *batch.last_word;
        const auto at = std::to_string(to_millis(word.at));
        const auto boot = std::to_string(
            std::chrono::floor<std::chrono::milliseconds>(word.boot.time_since_epoch()).count());
        Binder(alive_).text(at).text(word.boot_id).text(boot).run();
    }
    if (batch.listened) {
        const auto listened =
            std::chrono::ceil<std::chrono::milliseconds>(batch.listened->time_since_epoch());
        const auto text = std::to_string(listened.count());
        Binder(listened_).text(text).run();
    }
    if (batch.life) {
        Binder(forget_lives_).listened(batch.life->forget_until).run();
        Binder(begin_life_).listened(batch.life->began).run();
    }
    return {};
}

Result<void> BatchWriter::check_numbers(std::span<const Event> events) {
    if (events.empty()) return {};
    newest_.tryReset();
    newest_.executeStep();
    Seq newest = newest_.getColumn(0).getInt64();
    newest_.reset();
    for (const auto& event : events) {
        if (event.seq == ++newest) continue;
        return fail(ErrorCode::storage,
                    fmt::format("the log was changed by another program (its next event is {}, not "
                                "{}): nothing was written. Let no other program write to the "
                                "store, then restart the daemon: knell down, knell up --detach",
                                newest, event.seq));
    }
    return {};
}

void BatchWriter::count_ends(std::span<const Event> events) {
    std::map<std::tuple<std::int64_t, Reason, Proof>, std::int64_t> ends;
    for (const auto& event : events) {
        if (!event.end) continue;
        const auto hour = hour_of(event.time);
        ++ends[{hour, event.end->reason, event.end->proof}];
    }
    for (const auto& [key, count] : ends) {
        const auto& [hour, reason, proof] = key;
        Binder bind(ends_);
        bind.number(hour).word(name_of(reason)).word(name_in(proof_names, proof)).number(count);
        bind.run();
    }
}

bool BatchWriter::put(const Opened& change) {
    if (has_more_to_open(change.session)) {
        return Binder(open_more_).more_opened(change.session).run() == 1;
    }
    return Binder(open_).opened(change.session).run() == 1;
}

bool BatchWriter::put(const Reopened& change) {
    Binder bind(reopen_);
    bind.number(change.generation).owner(change.owner);
    bind.optional(change.title).optional(change.cwd);
    bind.word(name_in(on_owner_loss_names, change.on_owner_loss));
    bind.number(change.park_window.count());
    bind.word(name_in(leftovers_policy_names, change.leftovers)).time(change.at);
    bind.number(change.is_interaction ? 1 : 0);
    bind.number(static_cast<std::int64_t>(change.fold));
    bind.number(change.key_taken ? 1 : 0);
    bind.lines(change.former_owners).listened(change.lease_from).time(detached_by(change));
    bind.number(change.ordinal).number(std::int64_t{change.generation} - 1);
    return bind.run() == 1;
}

bool BatchWriter::put(const Ended& change) {
    Binder bind(end_);
    bind.end(change.end).number(static_cast<std::int64_t>(change.fold));
    bind.optional(change.successor.text());
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const Appended& change) {
    // The row first: messages of another generation would look like a broken constraint.
    Binder count(count_);
    count.tally(change.tally).time(change.at).number(change.is_interaction ? 1 : 0);
    count.number(change.ordinal).number(change.generation);
    if (count.run() != 1) return false;
    auto number = change.first_number;
    for (const auto& message : change.messages) {
        Binder bind(message_);
        bind.number(change.ordinal).number(number++).time(change.at).text(message.role);
        bind.text(message.content).optional(message.tool_name).number(message.tokens);
        bind.run();
    }
    counts_.note(change);
    return true;
}

bool BatchWriter::put(const MessagesCopied& change) {
    Binder count(recount_);
    count.tally(change.tally).number(change.ordinal).number(change.generation);
    if (count.run() != 1) return false;
    Binder bind(copy_);
    bind.number(change.ordinal).number(change.first_number);
    bind.number(change.from).number(change.after).run();
    return true;
}

bool BatchWriter::put(const TurnSet& change) {
    Binder bind(turn_);
    bind.time(change.turn_since).time(change.at).number(change.is_interaction ? 1 : 0);
    bind.listened(change.lease_from);
    const int is_on = change.turn_since ? 1 : 0;
    bind.number(is_on).number(is_on).time(change.at);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const AttachmentSet& change) {
    Binder bind(attach_);
    bind.number(change.attached).time(change.detached_since).number(change.told ? 1 : 0);
    bind.listened(change.lease_from).number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const LivenessMarked& change) {
    Binder bind(uncertainty_);
    bind.time(change.unknown_since).time(change.stalled_since);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const Parked& change) {
    Binder bind(park_);
    bind.time(change.since).time(change.before).optional(change.why);
    bind.listened(change.lease_from);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const Seen& change) {
    Binder bind(seen_);
    bind.time(change.at).listened(change.lease_from);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const Interacted& change) {
    Binder bind(interact_);
    bind.time(change.at).time(change.at).number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const Suspended& change) {
    Binder bind(suspend_);
    bind.time(change.at).optional(change.why);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const KeyTaken& change) {
    return Binder(take_key_).number(change.ordinal).number(change.generation).run() == 1;
}

bool BatchWriter::put(const ResetHeld& change) {
    Binder bind(hold_reset_);
    bind.time(change.since).lines(change.by);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const Labelled& change) {
    Binder bind(label_);
    bind.optional(change.labels.title).number(change.labels.pinned ? 1 : 0);
    bind.number(static_cast<std::int64_t>(change.fold));
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const BackgroundSet& change) {
    Binder bind(background_);
    bind.time(change.since).listened(change.lease_from);
    bind.number(change.since ? 1 : 0).time(change.at);
    bind.number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

bool BatchWriter::put(const LeftoversSettled& change) {
    const auto lines = to_lines(change.leftovers);
    Binder bind(settle_);
    bind.text(lines).number(change.ordinal).number(change.generation);
    return bind.run() == 1;
}

void BatchWriter::put(const Event& event) {
    Binder(event_).event(event).run();
}

}  // namespace knell::sqlite
