#pragma once

#include <span>
#include <string>
#include <string_view>

#include "wire/field.hpp"
#include "wire/json.hpp"

namespace knell::testing {

/// Where an object is not what its rows say, for people; "" when it is.
std::string breach_of(std::span<const wire::Field> rows, const JsonObject& object);

/// Whether "owner.pid" or "messages[3].role" is one of the rows, or a row inside of one.
bool is_row(std::span<const wire::Field> rows, std::string_view path);

}  // namespace knell::testing
