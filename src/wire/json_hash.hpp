#pragma once

#include <cstdint>

#include "wire/json.hpp"

namespace knell::wire {

/// The same for two values that say the same: whatever the order of their members, however their
/// numbers are written, and with or without members that are null.  Pure.
std::uint64_t hash_of(const Json& value);

}  // namespace knell::wire
