#pragma once

#include "store/memory/tables.hpp"
#include "store/search.hpp"

namespace knell {

/// Looks at every message, the last on record first.
SearchPage search_messages(const Tables& tables, const SearchQuery& query);

}  // namespace knell
