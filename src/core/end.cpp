#include "core/end.hpp"

#include <algorithm>

namespace knell {

std::optional<Reason> parse_reason(std::string_view text) {
    const auto row = std::ranges::find(reason_table, text, &ReasonRow::name);
    if (row == reason_table.end()) return std::nullopt;
    return row->reason;
}

}  // namespace knell
