#pragma once

#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "store/delivery.hpp"

namespace knell::sqlite {

/// The statements that write what is on record of subscribers.  As BatchWriter.
class DeliveryWriter {
  public:
    explicit DeliveryWriter(SQLite::Database& database);

    void write(const std::vector<DeliveryChange>& changes);

  private:
    void put(const SubscriptionSaved& change);
    void put(const SubscriptionForgotten& change);
    void put(const PendingSaved& change);
    void put(const PendingDropped& change);

    SQLite::Statement save_;
    SQLite::Statement forget_;
    SQLite::Statement drop_all_;
    SQLite::Statement update_letter_;
    SQLite::Statement insert_letter_;
    SQLite::Statement drop_letter_;
};

std::vector<Subscription> read_subscriptions(SQLite::Database& database);
std::vector<PendingDelivery> read_letters(SQLite::Database& database, const PendingQuery& query);

}  // namespace knell::sqlite
