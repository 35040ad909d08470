#include "core/ids.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell {

std::optional<std::string> why_not_an_id(std::string_view text) {
    if (text.empty()) return "must not be empty";
    if (text.size() > limits::id_bytes_max) {
        return fmt::format("is {} bytes long; at most {} are allowed", text.size(),
                           limits::id_bytes_max);
    }
    if (text.front() == '.') return "must not start with a dot";
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._:@+=-").contains(c);
    };
    if (!std::ranges::all_of(text, allowed)) {
        return "may hold only letters, digits and ._:@+=-";
    }
    return std::nullopt;
}

}  // namespace knell
