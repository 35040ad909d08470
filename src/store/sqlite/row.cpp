#include "store/sqlite/row.hpp"

#include <sqlite3.h>

#include "base/check.hpp"

namespace knell::sqlite {

const char* const session_columns =
    "ordinal, id, key, source, platform, user_id, parent_id, relation, model, title, cwd, meta, "
    "generation, owner_kind, owner_pid, owner_start_ticks, owner_pid_ns, owner_boot_id, "
    "owner_lease_ttl_s, owner_host, owner_since, on_owner_loss, started_at, last_activity_at, "
    "message_count, input_tokens, output_tokens, turn_since, ended_at, ended_after, ended_before, "
    "reason, detail, evidence, leftovers, proof, park_window_s, leftovers_policy, last_seen_at, "
    "unknown_since, stalled_since, parked_since, lease_from, former_owners";

const char* const event_columns =
    "seq, type, time, session_id, generation, session_key, platform, user_id, source, parent_id, "
    "relation, started_at, message_count, input_tokens, output_tokens, ended_at, ended_after, "
    "ended_before, reason, detail, evidence, leftovers, proof";

namespace {

/// A row as SQLiteCpp gives it.
struct WrappedRow {
    SQLite::Statement& row;
    bool is_null(int column) const { return row.getColumn(column).isNull(); }
    std::string text(int column) const { return row.getColumn(column).getString(); }
    std::int64_t number(int column) const { return row.getColumn(column).getInt64(); }
};

/// A row as SQLite itself gives it: for the log, which is read by the million.
struct BareRow {
    sqlite3_stmt* row;
    bool is_null(int column) const { return sqlite3_column_type(row, column) == SQLITE_NULL; }
    std::string_view text(int column) const {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
        return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
    }
    std::int64_t number(int column) const { return sqlite3_column_int64(row, column); }
};

/// Takes the columns of a row from left to right.
template <typename Row>
class Columns {
  public:
    explicit Columns(Row row) : row_(row) {}

    void skip(int columns) { next_ += columns; }
    bool is_null() const { return row_.is_null(next_); }
    auto text() { return row_.text(next_++); }
    std::int64_t number() { return row_.number(next_++); }
    WallTime time() { return from_millis(number()); }
    std::optional<WallTime> maybe_time() {
        if (!is_null()) return time();
        ++next_;
        return std::nullopt;
    }
    std::optional<SteadyTime> maybe_listened() {
        if (!is_null()) return SteadyTime{std::chrono::milliseconds{number()}};
        ++next_;
        return std::nullopt;
    }
    /// The store holds only words that we wrote.
    template <typename Enum, std::size_t Count>
    Enum word(const std::array<std::string_view, Count>& names) {
        const auto value = find_in<Enum>(names, text());
        CHECK(value.has_value());
        return *value;
    }
    Tally tally() {
        Tally tally;
        tally.messages = number();
        tally.input_tokens = number();
        tally.output_tokens = number();
        return tally;
    }
    std::optional<End> end() {
        if (is_null()) {
            next_ += 8;
            return std::nullopt;
        }
        End end;
        end.ended_at = time();
        end.ended_after = time();
        end.ended_before = time();
        const auto reason = parse_reason(text());
        CHECK(reason.has_value());
        end.reason = *reason;
        end.detail = text();
        end.evidence = text();
        end.leftovers = leftovers_from_lines(text());
        end.proof = row_of(*reason).proof;  // as it was before there was a column for it
        if (is_null()) {
            skip(1);
        } else {
            end.proof = word<Proof>(proof_names);
        }
        return end;
    }

  private:
    Row row_;
    int next_ = 0;
};

}  // namespace

Session read_session(SQLite::Statement& row) {
    Columns columns(WrappedRow{row});
    Session session;
    session.ordinal = columns.number();
    session.id = SessionId(columns.text());
    session.key = columns.text();
    session.source = columns.text();
    session.platform = columns.text();
    session.user_id = columns.text();
    session.parent_id = SessionId(columns.text());
    session.relation = columns.word<Relation>(relation_names);
    session.model = columns.text();
    session.title = columns.text();
    session.cwd = columns.text();
    session.meta = columns.text();
    session.generation = static_cast<Generation>(columns.number());
    session.owner.kind = columns.word<OwnerKind>(owner_kind_names);
    session.owner.process.pid = static_cast<std::int32_t>(columns.number());
    session.owner.process.start_ticks = static_cast<std::uint64_t>(columns.number());
    session.owner.process.pid_namespace = static_cast<std::uint64_t>(columns.number());
    session.owner.process.boot_id = columns.text();
    session.owner.lease_ttl = std::chrono::seconds{columns.number()};
    session.owner.host = columns.text();
    session.owner.since = columns.time();
    session.on_owner_loss = columns.word<OnOwnerLoss>(on_owner_loss_names);
    session.started_at = columns.time();
    session.last_activity_at = columns.time();
    session.tally = columns.tally();
    session.turn_since = columns.maybe_time();
    session.end = columns.end();
    session.park_window = std::chrono::seconds{columns.number()};
    session.leftovers = columns.word<LeftoversPolicy>(leftovers_policy_names);
    session.last_seen_at = columns.maybe_time().value_or(session.last_activity_at);
    session.unknown_since = columns.maybe_time();
    session.stalled_since = columns.maybe_time();
    session.parked_since = columns.maybe_time();
    session.lease_from = columns.maybe_listened();
    session.former_owners = processes_from_lines(columns.text());
    return session;
}

std::optional<Session> read_one(SQLite::Statement& select) {
    std::optional<Session> found;
    if (select.executeStep()) found = read_session(select);
    select.reset();
    return found;
}

Event read_event(sqlite3_stmt* row) {
    Columns columns(BareRow{row});
    Event event;
    event.seq = columns.number();
    event.type = columns.word<EventType>(event_type_names);
    event.time = columns.time();
    event.session_id = SessionId(std::string(columns.text()));
    event.generation = static_cast<Generation>(columns.number());
    event.session_key = columns.text();
    event.platform = columns.text();
    event.user_id = columns.text();
    event.source = columns.text();
    event.parent_id = SessionId(std::string(columns.text()));
    event.relation = columns.word<Relation>(relation_names);
    event.started_at = columns.time();
    event.tally = columns.tally();
    // Without an end the detail stands alone.
    if (columns.is_null()) {
        columns.skip(4);
        event.detail = columns.text();
    } else {
        event.end = columns.end();
    }
    return event;
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
    word(name_in(owner_kind_names, owner.kind));
    if (owner.kind == OwnerKind::process || owner.process.pid != 0) {
        number(owner.process.pid);
        number(static_cast<std::int64_t>(owner.process.start_ticks));
        number(static_cast<std::int64_t>(owner.process.pid_namespace));
        text(owner.process.boot_id);
    } else {
        null().null().null().null();
    }
    if (owner.kind == OwnerKind::lease || owner.lease_ttl.count() > 0) {
        number(owner.lease_ttl.count());
    } else {
        null();
    }
    return optional(owner.host).time(owner.since);
}

Binder& Binder::tally(const Tally& tally) {
    return number(tally.messages).number(tally.input_tokens).number(tally.output_tokens);
}

Binder& Binder::end(const End& end) {
    time(end.ended_at).time(end.ended_after).time(end.ended_before).word(name_of(end.reason));
    optional(end.detail).optional(end.evidence);
    optional(kept_.emplace_back(to_lines(end.leftovers)));
    return word(name_in(proof_names, end.proof));
}

Binder& Binder::processes(const std::vector<ProcessIdentity>& processes) {
    return optional(kept_.emplace_back(to_lines(processes)));
}

Binder& Binder::listened(SteadyTime value) {
    // Up, so that a lease is never a millisecond short.
    return number(std::chrono::ceil<std::chrono::milliseconds>(value.time_since_epoch()).count());
}

Binder& Binder::listened(std::optional<SteadyTime> value) {
    return value ? listened(*value) : null();
}

}  // namespace knell::sqlite
