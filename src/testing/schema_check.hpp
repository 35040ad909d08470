#pragma once

#include <string_view>

#include "config/key_table.hpp"

namespace knell::testing {

/// Whether the JSON Schema of a table of keys accepts a file, as an editor would see it.  Knows
/// what of JSON Schema ours use; a keyword that is unknown here fails the test.
bool schema_accepts(const KeyTable& table, std::string_view yaml);

}  // namespace knell::testing
