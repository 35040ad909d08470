#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>
#include <variant>
#include <vector>

#include "store/memory/tables.hpp"

namespace knell {

/// What a batch makes of the tables, looked at whole before anything of it is written.  The batch
/// must outlive it.
class Staged {
  public:
    explicit Staged(const Tables& tables)
        : tables_(tables), processes_(tables.processes), newest_(newest_in(tables)) {}

    Result<void> add(const Change& change);
    Result<void> add(const Event& event);
    void write_to(Tables& tables);

  private:
    Session* find(Ordinal ordinal);
    Result<void> open(const Session& session);
    Result<void> keep(const Appended& change);
    Result<void> keep(const MessagesCopied& change);
    /// So many more messages of a session.
    template <typename Said>
    Result<void> keep(const Said& change, std::int64_t more);
    /// How many messages a session will have.
    std::int64_t& count_of(Ordinal ordinal);

    const Tables& tables_;
    StagedProcesses processes_;
    Seq newest_;
    std::map<Ordinal, Session> rows_;  // as they will be
    std::unordered_set<SessionId> ids_;
    std::map<Ordinal, std::int64_t> messages_;  // how many each will have
    std::vector<std::variant<const Appended*, const MessagesCopied*>> said_;
    std::vector<const Event*> events_;
    std::set<Place> places_;
};

}  // namespace knell
