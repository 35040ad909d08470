#pragma once

#include <string>
#include <vector>

#include "config/key_table.hpp"

namespace knell::testing {

/// What people might write behind a key, right and wrong, each as it could stand in a flow map
/// (`{key: VALUE}`): values of every type, and those at the key's own bounds.
std::vector<std::string> written_values(const Key& key);

}  // namespace knell::testing
