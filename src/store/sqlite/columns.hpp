#pragma once

#include <utility>

#include "core/background_process.hpp"
#include "core/event.hpp"
#include "core/session.hpp"
#include "store/delivery.hpp"

namespace knell::sqlite {

/// The columns of each table: name, how it is bound and how it is read, once, in one order.
///
/// `Columns` is one of three: ColumnNames writes the names down, RowBinder binds a row, RowReader
/// reads one; each in its header.  They have a function for each kind of column:
///
///   number, text        NOT NULL
///   optional, id        "" is NULL
///   word                of a table of names; "" is NULL
///   time, maybe_time    milliseconds since 1970
///   listened            milliseconds in which some daemon listened, rounded up
///   time_or             NULL: as another
///   words               one a line, escaped (word_lines.hpp); none is NULL
///   derived             written, never read: it follows from the others
///   when                what follows is NULL where it does not hold; read as 0 and ""
///
/// Resolved when compiled: rows are written and read by the million.

template <typename Columns, typename Row>
void tally_columns(Columns& columns, Row& tally) {
    columns.number("message_count", tally.messages);
    columns.number("input_tokens", tally.input_tokens);
    columns.number("output_tokens", tally.output_tokens);
}

template <typename Columns, typename Row>
void owner_columns(Columns& columns, Row& owner) {
    columns.word("owner_kind", owner_kind_names, owner.kind);
    const bool is_process = owner.kind == OwnerKind::process || owner.process.pid != 0;
    columns.when(is_process, [&] {
        columns.number("owner_pid", owner.process.pid);
        columns.number("owner_start_ticks", owner.process.start_ticks);
        columns.number("owner_pid_ns", owner.process.pid_namespace);
        columns.text("owner_boot_id", owner.process.boot_id);
    });
    const bool is_lease = owner.kind == OwnerKind::lease || owner.lease_ttl.count() > 0;
    columns.when(is_lease, [&] { columns.seconds("owner_lease_ttl_s", owner.lease_ttl); });
    columns.optional("owner_host", owner.host);
    columns.time("owner_since", owner.since);
    columns.optional("owner_command", owner.command);
}

/// Of a session and of an event: NULL while there is no end.
template <typename Columns, typename Row>
void end_columns(Columns& columns, Row& end) {
    columns.time("ended_at", end.ended_at);
    columns.time("ended_after", end.ended_after);
    columns.time("ended_before", end.ended_before);
    columns.reason("reason", end.reason);
    columns.optional("detail", end.detail);
    columns.optional("evidence", end.evidence);
    columns.lines("leftovers", end.leftovers);
    columns.proof("proof", end);
}
inline constexpr int end_width = 8;
inline constexpr int detail_in_end = 4;

/// What a session is opened with: the only ones that a new row names, since binding a NULL costs as
/// much as binding a number.
template <typename Columns, typename Row>
void opened_columns(Columns& columns, Row& session) {
    columns.number("ordinal", session.ordinal);
    columns.id("id", session.id);
    columns.optional("key", session.key);
    columns.text("source", session.source);
    columns.optional("platform", session.platform);
    columns.optional("user_id", session.user_id);
    columns.id("parent_id", session.parent_id);
    columns.word("relation", relation_names, session.relation);
    columns.optional("model", session.model);
    columns.optional("title", session.title);
    columns.optional("cwd", session.cwd);
    columns.optional("meta", session.meta);
    columns.number("generation", session.generation);
    owner_columns(columns, session.owner);
    columns.word("on_owner_loss", on_owner_loss_names, session.on_owner_loss);
    columns.time("started_at", session.started_at);
    columns.time("last_activity_at", session.last_activity_at);
    tally_columns(columns, session.tally);
    columns.derived("fold", [&] { return static_cast<std::int64_t>(fold_of(session)); });
    columns.seconds("park_window_s", session.park_window);
    columns.word("leftovers_policy", leftovers_policy_names, session.leftovers);
    columns.time_or("last_seen_at", session.last_seen_at, session.last_activity_at);
    columns.listened("lease_from", session.lease_from);
    columns.maybe_time("detached_since", session.detached_since);
}

/// What some are opened with besides: see has_more_to_open.  Nearly all sessions begin with the
/// interaction that opens them, and come from no gateway.
template <typename Columns, typename Row>
void more_opened_columns(Columns& columns, Row& session) {
    columns.optional("chat_type", session.chat_type);
    columns.time_or("last_interaction_at", session.last_interaction_at, session.last_activity_at);
    columns.number("summary_lost", session.summary_lost);
    columns.number("key_taken", session.key_taken);
}

/// Whether these columns would hold anything else than what a row has that does not name them.
inline bool has_more_to_open(const Session& session) {
    return !session.chat_type.empty() || session.summary_lost || session.key_taken ||
           session.last_interaction_at != session.last_activity_at;
}

template <typename Columns, typename Row>
void session_columns(Columns& columns, Row& session) {
    opened_columns(columns, session);
    more_opened_columns(columns, session);
    columns.maybe_time("turn_since", session.turn_since);
    columns.number("turn_count", session.turns);
    columns.maybe_time("unknown_since", session.unknown_since);
    columns.maybe_time("stalled_since", session.stalled_since);
    columns.maybe_time("parked_since", session.parked_since);
    columns.maybe_time("parked_before", session.parked_before);
    columns.optional("park_why", session.park_why);
    columns.maybe_time("background_since", session.background_since);
    columns.lines("former_owners", session.former_owners);
    columns.number("pinned", session.pinned);
    columns.number("attached", session.attached);
    columns.number("attach_told", session.attach_told);
    columns.maybe_time("suspended_at", session.suspended_at);
    columns.optional("suspend_why", session.suspend_why);
    columns.maybe_time("reset_held_since", session.reset_held_since);
    columns.lines("reset_held_by", session.reset_held_by);
    columns.id("successor_id", session.successor_id);
    columns.end(session.end);
}

template <typename Columns, typename Row>
void event_columns(Columns& columns, Row& event) {
    columns.number("seq", event.seq);
    columns.word("type", event_type_names, event.type);
    columns.time("time", event.time);
    columns.when(!event.session_id.empty(), [&] {
        columns.id("session_id", event.session_id);
        columns.number("generation", event.generation);
        columns.derived("place", [&] { return place_of(event); });
        columns.optional("session_key", event.session_key);
        columns.optional("platform", event.platform);
        columns.optional("user_id", event.user_id);
        columns.text("source", event.source);
        columns.id("parent_id", event.parent_id);
        columns.word("relation", relation_names, event.relation);
        columns.time("started_at", event.started_at);
        tally_columns(columns, event.tally);
        columns.optional("title", event.title);
        columns.optional("cwd", event.cwd);
        columns.optional("command", event.command);
        columns.optional("host", event.host);
        columns.number("pid", event.pid);
    });
    // Without an end the detail stands alone.
    columns.end_or_detail(event.end, event.detail);
    columns.labels("data", event.labels, event.after_end);
    columns.process("process", event.process);
    columns.lines("blockers", event.blockers);
    columns.compression("compression", event.compression);
    columns.stuck("stuck", event.stuck);
}

/// What a process was last seen doing.
template <typename Columns, typename Row>
void activity_columns(Columns& columns, Row& activity) {
    columns.word("activity", process_activity_names, activity.activity);
    columns.time("activity_since", activity.since);
    columns.optional("activity_evidence", activity.evidence);
}

/// NULL while it runs.
template <typename Columns, typename Row>
void exit_columns(Columns& columns, Row& exit) {
    columns.word("exit_kind", exit_kind_names, exit.kind);
    columns.number("exit_number", exit.number);
    columns.optional("exit_evidence", exit.evidence);
    columns.time("exited_at", exit.at);
    columns.time("exited_after", exit.after);
    columns.time("exited_before", exit.before);
}
inline constexpr int exit_width = 6;

/// Also the order of what an event says of a process (process_text.hpp): what is added goes last.
template <typename Columns, typename Row>
void process_columns(Columns& columns, Row& process) {
    columns.number("number", process.number);
    columns.id("id", process.id);
    columns.id("session_id", process.session_id);
    columns.number("generation", process.generation);
    columns.optional("task_id", process.task_id);
    columns.word("origin", process_origin_names, process.origin);
    columns.number("pid", process.process.pid);
    columns.number("start_ticks", process.process.start_ticks);
    columns.number("pid_ns", process.process.pid_namespace);
    columns.text("boot_id", process.process.boot_id);
    columns.words("argv", process.argv);
    columns.optional("cwd", process.cwd);
    columns.optional("title", process.title);
    columns.time("started_at", process.started_at);
    activity_columns(columns, process.activity);
    columns.maybe_time("stale_since", process.stale_since);
    columns.maybe_time("vouched_until", process.vouched_until);
    columns.maybe_time("stop_asked_at", process.stop_asked_at);
    columns.optional("stop_asked_by", process.stop_asked_by);
    columns.exit(process.exit);
}

template <typename Columns, typename Row>
void subscription_columns(Columns& columns, Row& subscription) {
    columns.text("name", subscription.name);
    columns.number("cursor", subscription.cursor);
    columns.word("state", subscriber_state_names, subscription.state);
    columns.time("since", subscription.since);
    columns.number("delivered", subscription.delivered);
    columns.number("failures", subscription.failures);
    columns.number("lost", subscription.lost);
    columns.maybe_time("last_delivery_at", subscription.last_delivery_at);
    columns.maybe_time("last_failure_at", subscription.last_failure_at);
    columns.optional("last_error", subscription.last_error);
}

/// What changes of a letter once it is written.
template <typename Columns, typename Row>
void letter_state_columns(Columns& columns, Row& letter) {
    columns.word("state", letter_state_names, letter.state);
    columns.number("attempts", letter.attempts);
    columns.milliseconds("waited_ms", letter.waited);
    columns.time("next_try_at", letter.next_try_at);
    columns.optional("last_error", letter.last_error);
}

/// All but the event's text, which comes last and is not always asked for.
template <typename Columns, typename Row>
void letter_columns(Columns& columns, Row& letter) {
    columns.text("subscriber", letter.subscriber);
    columns.number("seq", letter.rendered.seq);
    letter_state_columns(columns, letter);
    columns.text("id", letter.rendered.id);
    columns.text("type", letter.rendered.type);
    columns.text("time", letter.rendered.time);
    columns.optional("session_id", letter.rendered.session_id);
}

}  // namespace knell::sqlite
