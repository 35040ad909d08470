#include "config/key_checks.hpp"

#include <algorithm>

namespace knell {

namespace {

bool looks_like_a_secret(std::string_view text) {
    return text.starts_with("whsec_");
}

bool is_variable_name(std::string_view text) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

}  // namespace

std::optional<std::string> why_not_a_secret_file(std::string_view text) {
    if (!text.empty() && !looks_like_a_secret(text)) return std::nullopt;
    return "must name the file that holds the secret, not be the secret";
}

std::optional<std::string> why_not_a_secret_variable(std::string_view text) {
    if (is_variable_name(text) && !looks_like_a_secret(text)) return std::nullopt;
    return "must name the environment variable that holds the secret, not be the secret";
}

}  // namespace knell
