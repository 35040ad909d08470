#include "cli/bytes_text.hpp"

#include <array>

#include <fmt/format.h>

namespace knell::cli {

std::string format_bytes(std::int64_t bytes) {
    static constexpr std::array units{"kB", "MB", "GB", "TB"};
    if (bytes < 1000) return fmt::format("{} bytes", bytes);
    auto amount = static_cast<double>(bytes) / 1000;
    std::size_t unit = 0;
    for (; amount >= 999.95 && unit + 1 < units.size(); ++unit) amount /= 1000;
    return fmt::format("{:.1f} {}", amount, units[unit]);
}

}  // namespace knell::cli
