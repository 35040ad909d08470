#pragma once

#include <chrono>
#include <cstdint>
#include <string>

/// Bounds of numbers that stand in a text, as regular expressions for a JSON Schema.
namespace knell {

/// Matches the whole numbers from `least` to `most`, 0 or more, without zeros before them.
std::string number_pattern(std::int64_t least, std::int64_t most);

/// Matches, as a whole, what `YamlFields::duration` takes with a unit behind it.
std::string duration_pattern(std::chrono::seconds least, std::chrono::seconds most,
                             std::chrono::seconds bare_unit);

}  // namespace knell
