#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace knell {

/// Enumerators are spelled as on the wire and in SQL; a table gives text both ways.  Each enum has
/// one `constexpr` table whose rows stand in the order of the enumerators, from 0.
template <typename Enum, std::size_t Count>
using Names = std::array<std::string_view, Count>;

template <typename Enum, std::size_t Count>
constexpr std::string_view name_in(const std::array<std::string_view, Count>& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

template <typename Enum, std::size_t Count>
constexpr std::optional<Enum> find_in(const std::array<std::string_view, Count>& names,
                                      std::string_view text) {
    for (std::size_t i = 0; i < Count; ++i) {
        if (names[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

}  // namespace knell
