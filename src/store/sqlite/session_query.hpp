#pragma once

#include <string>

#include "store/archive.hpp"

namespace knell::sqlite {

/// SQL that is put together from the filters of a query, with the index that leaves the fewest rows
/// to look at.  Pure.

/// It asks for open sessions and for ended ones.
bool can_be_none(const SessionQuery& query);
/// Binds :source, :key, :before, :current and :gone_before where they are given, and :limit.
std::string list_sql(const SessionQuery& query);
/// How many sessions a query that folds leaves out, of the first :most that are folded.
std::string count_folded_sql(const SessionQuery& query);

}  // namespace knell::sqlite
