#pragma once

#include <vector>

#include "store/sqlite/statement_cache.hpp"
#include "store/store.hpp"

/// Sessions in other orders than that of creation: by their ends, and by their ids.
namespace knell::sqlite {

EndedPage read_ended(StatementCache& statements, const EndedQuery& query);
std::vector<Session> read_beginning(StatementCache& statements, const SessionId& prefix,
                                    std::size_t limit);
IdNeighbours read_neighbours(StatementCache& statements, const SessionId& id);

}  // namespace knell::sqlite
