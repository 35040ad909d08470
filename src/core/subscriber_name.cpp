#include "core/subscriber_name.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell {

std::optional<std::string> why_not_a_subscriber_name(std::string_view name) {
    if (name.empty()) return "must not be empty; choose one";
    if (name.size() > limits::subscriber_name_bytes_max) {
        return fmt::format("is {} bytes long, and at most {} are allowed; choose a shorter one",
                           name.size(), limits::subscriber_name_bytes_max);
    }
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-").contains(c);
    };
    if (!std::ranges::all_of(name, allowed)) {
        return "may hold only letters, digits and ._-; choose another";
    }
    // It stands where a file's name would: in paths of tools, in what people type.
    if (name == "." || name == "..") return "is the name of a directory everywhere; choose another";
    return std::nullopt;
}

}  // namespace knell
