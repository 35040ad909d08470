#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "wire/field.hpp"
#include "wire/json.hpp"

namespace knell::net::http {

/// The parameters of a method, of what a query says: numbers, booleans and lists by the method's
/// rows.  A list is repeated, or separated by commas.  Only what cannot be written as JSON is
/// refused here, and names that the method does not have: a filter that is misspelt must not look
/// as if it held.  All else the method says itself, as to everybody.
Result<JsonObject> params_of_query(const std::vector<std::pair<std::string, std::string>>& query,
                                   std::span<const wire::Field> rows);

}  // namespace knell::net::http
