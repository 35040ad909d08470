#include "store/sqlite/delivery_rows.hpp"

#include "base/check.hpp"
#include "core/names.hpp"
#include "store/sqlite/row.hpp"

namespace knell::sqlite {

namespace {

std::optional<WallTime> maybe_time(const SQLite::Column& column) {
    if (column.isNull()) return std::nullopt;
    return from_millis(column.getInt64());
}

template <typename Enum, std::size_t Count>
Enum word(const std::array<std::string_view, Count>& names, const SQLite::Column& column) {
    const auto value = find_in<Enum>(names, column.getString());
    CHECK(value.has_value());
    return *value;
}

/// Both states, so that one letter is found by subscriber and number whatever became of it.
constexpr auto of_one_letter = "WHERE subscriber = ? AND state IN ('waiting', 'dead') AND seq = ?";

}  // namespace

DeliveryWriter::DeliveryWriter(SQLite::Database& database)
    : save_(database, "INSERT OR REPLACE INTO subscriptions VALUES (?,?,?,?,?,?,?,?,?,?)"),
      forget_(database, "DELETE FROM subscriptions WHERE name = ?"),
      drop_all_(database, "DELETE FROM letters WHERE subscriber = ?"),
      update_letter_(database, std::string("UPDATE letters SET state = ?, attempts = ?, "
                                           "waited_ms = ?, next_try_at = ?, last_error = ? ") +
                                   of_one_letter),
      insert_letter_(database, "INSERT INTO letters VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"),
      drop_letter_(database, std::string("DELETE FROM letters ") + of_one_letter) {}

void DeliveryWriter::write(const std::vector<DeliveryChange>& changes) {
    for (const auto& change : changes) std::visit([this](const auto& c) { put(c); }, change);
}

void DeliveryWriter::put(const SubscriptionSaved& change) {
    const auto& s = change.subscription;
    Binder bind(save_);
    bind.text(s.name).number(s.cursor).word(name_in(subscriber_state_names, s.state));
    bind.time(s.since).number(s.delivered).number(s.failures).number(s.lost);
    bind.time(s.last_delivery_at).time(s.last_failure_at).optional(s.last_error).run();
}

void DeliveryWriter::put(const SubscriptionForgotten& change) {
    Binder(drop_all_).text(change.name).run();
    Binder(forget_).text(change.name).run();
}

void DeliveryWriter::put(const PendingSaved& change) {
    const auto& letter = change.letter;
    const auto state = name_in(letter_state_names, letter.state);
    Binder update(update_letter_);
    update.word(state).number(letter.attempts).number(letter.waited.count());
    update.time(letter.next_try_at).optional(letter.last_error);
    if (update.text(letter.subscriber).number(letter.rendered.seq).run() > 0) return;

    const auto& rendered = letter.rendered;
    Binder insert(insert_letter_);
    insert.text(letter.subscriber).number(rendered.seq).word(state).number(letter.attempts);
    insert.number(letter.waited.count()).time(letter.next_try_at).optional(letter.last_error);
    insert.text(rendered.id).text(rendered.type).text(rendered.time).optional(rendered.session_id);
    insert.text(rendered.json).run();
}

void DeliveryWriter::put(const PendingDropped& change) {
    Binder(drop_letter_).text(change.subscriber).number(change.seq).run();
}

std::vector<Subscription> read_subscriptions(SQLite::Database& database) {
    SQLite::Statement select(database,
                             "SELECT name, cursor, state, since, delivered, failures, lost, "
                             "last_delivery_at, last_failure_at, last_error FROM subscriptions");
    std::vector<Subscription> found;
    while (select.executeStep()) {
        Subscription s;
        s.name = select.getColumn(0).getString();
        s.cursor = select.getColumn(1).getInt64();
        s.state = word<SubscriberState>(subscriber_state_names, select.getColumn(2));
        s.since = from_millis(select.getColumn(3).getInt64());
        s.delivered = select.getColumn(4).getInt64();
        s.failures = select.getColumn(5).getInt64();
        s.lost = select.getColumn(6).getInt64();
        s.last_delivery_at = maybe_time(select.getColumn(7));
        s.last_failure_at = maybe_time(select.getColumn(8));
        s.last_error = select.getColumn(9).getString();
        found.push_back(std::move(s));
    }
    return found;
}

std::vector<PendingDelivery> read_letters(SQLite::Database& database, const PendingQuery& query) {
    std::string sql =
        "SELECT subscriber, seq, state, attempts, waited_ms, next_try_at, last_error, id, type, "
        "time, session_id, ";
    sql += query.without_events ? "''" : "event";
    sql += query.after_subscriber.empty()
               ? " FROM letters WHERE seq > :after"
               : " FROM letters WHERE (subscriber, seq) > (:after_subscriber, :after)";
    if (!query.subscriber.empty()) sql += " AND subscriber = :subscriber";
    if (query.state) sql += " AND state = :state";
    SQLite::Statement select(database, sql + " ORDER BY subscriber, seq LIMIT :limit");
    select.bind(":after", query.after);
    if (!query.after_subscriber.empty()) select.bind(":after_subscriber", query.after_subscriber);
    if (!query.subscriber.empty()) select.bind(":subscriber", query.subscriber);
    if (query.state) {
        select.bind(":state", std::string(name_in(letter_state_names, *query.state)));
    }
    select.bind(":limit", static_cast<std::int64_t>(query.limit));
    std::vector<PendingDelivery> found;
    while (select.executeStep()) {
        PendingDelivery letter;
        letter.subscriber = select.getColumn(0).getString();
        letter.rendered.seq = select.getColumn(1).getInt64();
        letter.state = word<PendingState>(letter_state_names, select.getColumn(2));
        letter.attempts = select.getColumn(3).getInt();
        letter.waited = std::chrono::milliseconds{select.getColumn(4).getInt64()};
        letter.next_try_at = from_millis(select.getColumn(5).getInt64());
        letter.last_error = select.getColumn(6).getString();
        letter.rendered.id = select.getColumn(7).getString();
        letter.rendered.type = select.getColumn(8).getString();
        letter.rendered.time = select.getColumn(9).getString();
        letter.rendered.session_id = select.getColumn(10).getString();
        letter.rendered.json = select.getColumn(11).getString();
        found.push_back(std::move(letter));
    }
    return found;
}

}  // namespace knell::sqlite
