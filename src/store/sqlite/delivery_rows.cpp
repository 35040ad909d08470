#include "store/sqlite/delivery_rows.hpp"

#include <fmt/format.h>

#include "store/sqlite/column_names.hpp"
#include "store/sqlite/row_binder.hpp"
#include "store/sqlite/row_reader.hpp"

namespace knell::sqlite {

namespace {

ColumnNames subscription_names() {
    return names_of<Subscription>([](auto& names, auto& row) { subscription_columns(names, row); });
}
ColumnNames letter_names() {
    return names_of<PendingDelivery>([](auto& names, auto& row) { letter_columns(names, row); });
}
ColumnNames changing_letter_names() {
    return names_of<PendingDelivery>(
        [](auto& names, auto& row) { letter_state_columns(names, row); });
}

/// Both states, so that one letter is found by subscriber and number whatever became of it.
constexpr auto of_one_letter = "WHERE subscriber = ? AND state IN ('waiting', 'dead') AND seq = ?";

}  // namespace

DeliveryWriter::DeliveryWriter(SQLite::Database& database)
    : save_(database, fmt::format("INSERT OR REPLACE INTO subscriptions ({}) "
                                  "VALUES (?,?,?,?,?,?,?,?,?,?)",
                                  subscription_names().list())),
      forget_(database, "DELETE FROM subscriptions WHERE name = ?"),
      drop_all_(database, "DELETE FROM letters WHERE subscriber = ?"),
      update_letter_(database, fmt::format("UPDATE letters SET {} {}",
                                           changing_letter_names().assignments(), of_one_letter)),
      insert_letter_(database, fmt::format("INSERT INTO letters ({}, event) "
                                           "VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                                           letter_names().list())),
      drop_letter_(database, std::string("DELETE FROM letters ") + of_one_letter) {}

void DeliveryWriter::write(const std::vector<DeliveryChange>& changes) {
    for (const auto& change : changes) std::visit([this](const auto& c) { put(c); }, change);
}

void DeliveryWriter::put(const SubscriptionSaved& change) {
    Binder bind(save_);
    RowBinder columns(bind);
    subscription_columns(columns, change.subscription);
    bind.run();
}

void DeliveryWriter::put(const SubscriptionForgotten& change) {
    Binder(drop_all_).text(change.name).run();
    Binder(forget_).text(change.name).run();
}

void DeliveryWriter::put(const PendingSaved& change) {
    const auto& letter = change.letter;
    Binder update(update_letter_);
    RowBinder changing(update);
    letter_state_columns(changing, letter);
    if (update.text(letter.subscriber).number(letter.rendered.seq).run() > 0) return;

    Binder insert(insert_letter_);
    RowBinder columns(insert);
    letter_columns(columns, letter);
    insert.text(letter.rendered.json).run();
}

void DeliveryWriter::put(const PendingDropped& change) {
    Binder(drop_letter_).text(change.subscriber).number(change.seq).run();
}

std::vector<Subscription> read_subscriptions(SQLite::Database& database) {
    SQLite::Statement select(
        database, fmt::format("SELECT {} FROM subscriptions", subscription_names().list()));
    std::vector<Subscription> found;
    while (select.executeStep()) {
        RowReader reader(WrappedRow{select});
        subscription_columns(reader, found.emplace_back());
    }
    return found;
}

std::vector<PendingDelivery> read_letters(SQLite::Database& database, const PendingQuery& query) {
    auto sql =
        fmt::format("SELECT {}, {}", letter_names().list(), query.without_events ? "''" : "event");
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
        RowReader reader(WrappedRow{select});
        auto& letter = found.emplace_back();
        letter_columns(reader, letter);
        reader.text("event", letter.rendered.json);
    }
    return found;
}

}  // namespace knell::sqlite
