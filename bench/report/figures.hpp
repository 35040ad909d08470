#pragma once

#include <string>

#include "samples.hpp"

namespace knell::bench {

/// 1234567 as "1,234,567".
std::string grouped(double value);
inline std::string grouped(std::size_t count) {
    return grouped(static_cast<double>(count));
}

/// Three digits that count, no more: the rest is noise.
std::string number(double value);

/// "12.3 ms", "1,234/s", "4.56x".
std::string with_unit(double value, const std::string& unit);

/// A unit as a page may write it; in a terminal's table each letter must be one byte.
std::string for_page(const std::string& unit);

/// With the lowest and the highest run when there were several.
std::string with_spread(const Spread& spread, const std::string& unit);

/// A time in the unit that suits it: "85.0 µs", "1.20 ms", "5.04 s".
std::string duration(double seconds);

}  // namespace knell::bench
