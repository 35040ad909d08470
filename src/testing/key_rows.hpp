#pragma once

#include <string>
#include <string_view>

#include "config/key_table.hpp"

namespace knell::testing {

/// Fails the test where a row is not what rows must be: once in its table, with one sentence, and
/// with either a default within its bounds or what stands for it.
void check_key_rows(const KeyTable& table);

/// For a page of docs/: the keys that begin with `list`, or with "" those that are in no list.
std::string key_doc_table(const KeyTable& table, std::string_view list);

}  // namespace knell::testing
