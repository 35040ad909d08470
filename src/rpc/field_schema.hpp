#pragma once

#include <cstdint>
#include <span>

#include "wire/field.hpp"
#include "wire/json.hpp"

/// The rows of methods as JSON Schema (2020-12), for /openapi.json.
namespace knell::rpc {

/// Calls are bounded and checked; answers say what is always there and may grow.
enum class Direction : std::uint8_t { call, answer };

/// What one field may hold.  A shared object is a reference into #/components/schemas.
JsonObject schema_of(const wire::Field& field, Direction direction);
/// An object with these fields.
JsonObject schema_of(std::span<const wire::Field> fields, Direction direction);

/// What stands for a missing field, of its own type; null where nothing does.
Json standard_of(const wire::Field& field);

}  // namespace knell::rpc
