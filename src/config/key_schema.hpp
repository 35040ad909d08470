#pragma once

#include "config/key_table.hpp"
#include "wire/json.hpp"

namespace knell {

/// A table of keys as a JSON Schema (draft 2020-12), for editors that check while one types.
///
/// What it refuses, knell refuses too.  It knows less: whether a name is taken, or a duration with
/// a unit is within its bounds.
JsonObject key_schema(const KeyTable& table);

}  // namespace knell
