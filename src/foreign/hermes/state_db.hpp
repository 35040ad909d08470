#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "foreign/hermes/records.hpp"
#include "foreign/hermes/snapshot.hpp"

namespace knell::hermes {

/// The oldest layout that is understood.
inline constexpr int schema_min = 11;

/// state.db of any version from `schema_min` on: what a column or table that is not there would say
/// stays empty.  Rows are visited one by one, so that memory does not grow with the database.
class StateDb {
  public:
    /// `path` is for errors.
    static Result<StateDb> open(Snapshot snapshot, std::string path);

    int schema() const { return schema_; }
    const Snapshot& snapshot() const { return snapshot_; }

    /// The oldest first.  What `visit` gives is handed on, and ends the visit.
    Result<void> for_each_session(const std::function<Result<void>(const SessionRow&)>& visit);
    /// Of one session with a higher id, in order.
    Result<void> for_each_message(const std::string& session_id, std::int64_t after,
                                  const std::function<Result<void>(MessageRow&&)>& visit);
    /// Messages of sessions that are not there.
    Result<std::int64_t> count_orphan_messages();
    Result<std::vector<RoutingEntry>> routing();
    /// Backends that beat, holders of turns and of compressions.
    Result<std::vector<OwnerEntry>> owners();

  private:
    StateDb(Snapshot snapshot, std::string path, int schema);
    bool has(const char* table, const char* column = nullptr);
    /// The column, or NULL where there is none.
    std::string column(const char* name);

    Snapshot snapshot_;
    std::string path_;
    int schema_;
};

}  // namespace knell::hermes
