#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/session.hpp"
#include "row_copier.hpp"

namespace knell::bench {

/// What the bench creates over RPC, as the engine sees it: a source and a lease.
Session plain_session();
/// A session as people have them: title, directory, routing key.
Session lifelike_session();

/// Makes a store in `home` and, through knell's own journal, two sessions in it that are patterns
/// for copies: "pattern-open" and "pattern-ended".
void make_store(const std::string& home, const Session& draft);

/// Copies the patterns: a session with the events that belong to it.
class SessionCopier {
  public:
    SessionCopier(const RawDatabase& database, bool ended);

    /// Before `insert`, to make copies differ.
    RowCopier& row() { return session_; }
    void insert();

  private:
    const bool ended_;
    RowCopier session_;
    RowCopier start_;
    std::unique_ptr<RowCopier> end_;
    int ordinal_column_;
    int id_column_;
    int seq_column_;
    int event_id_column_;
    std::int64_t ordinal_ = 0;
    std::int64_t seq_ = 0;
    std::uint64_t random_ = 0x9e3779b97f4a7c15;
    std::string id_;
};

/// `count` more sessions in the store of `home`, as fast as it can be done; not measured.  `shape`
/// may set columns of copy `number` (0, 1, 2 ...); texts must last until the next call.
void fill_store(const std::string& home, bool ended, std::size_t count,
                const std::function<void(std::size_t number, RowCopier& row)>& shape);

/// Open sessions whose leases do not fall due while they are measured.
void fill_store_with_leases(const std::string& home, std::size_t count);

}  // namespace knell::bench
