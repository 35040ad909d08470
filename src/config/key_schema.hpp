#pragma once

#include "config/key_table.hpp"
#include "wire/json.hpp"

namespace knell {

/// A table of keys as a JSON Schema (draft 2020-12), for editors that check while one types.
///
/// What it refuses, knell refuses too.  It knows less where several keys belong together or a text
/// has a grammar: whether a name is taken, an address can be listened at, a URL or a command line
/// is whole.  Of everything else it accepts what knell accepts; but it sees values, not how they
/// are written: knell reads 10, and neither 010 nor 10.0.
JsonObject key_schema(const KeyTable& table);

}  // namespace knell
