#include "config/key_checks.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/nearest_word.hpp"
#include "config/summarizer_settings.hpp"
#include "core/guard.hpp"
#include "reset/reset_policy.hpp"
#include "reset/time_zone.hpp"

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

std::optional<std::string> why_none_of(std::span<const std::string_view> words,
                                       std::string_view text) {
    if (std::ranges::find(words, text) != words.end()) return std::nullopt;
    const auto meant = nearest_word(text, std::vector<std::string>(words.begin(), words.end()));
    return fmt::format(
        "must be {} or {}; {}", fmt::join(words.first(words.size() - 1), ", "), words.back(),
        meant.empty() ? "write one of these words" : fmt::format("did you mean \"{}\"?", meant));
}

}  // namespace

std::optional<std::string> why_not_a_secret_file(std::string_view text) {
    if (!text.empty() && !looks_like_a_secret(text)) return std::nullopt;
    return "must name the file that holds the secret, not be the secret; put that into a file and "
           "write "
           "its path, as in ops.secret";
}

std::optional<std::string> why_not_a_secret_variable(std::string_view text) {
    if (is_variable_name(text) && !looks_like_a_secret(text)) return std::nullopt;
    return "must name the environment variable that holds the secret, not be the secret; write its "
           "name, as in OPS_SECRET";
}

std::optional<std::string> why_not_a_time_zone(std::string_view text) {
    if (text == local_zone_word) return std::nullopt;
    const auto found = TimeZone::find(text);
    if (found) return std::nullopt;
    const auto names = TimeZone::names();
    if (names.empty()) return found.error().message;
    const auto meant = nearest_word(text, names);
    return meant.empty() ? fmt::format("{}; write its IANA name, as in Europe/Berlin, or {}",
                                       found.error().message, local_zone_word)
                         : fmt::format("{}; did you mean \"{}\"?", found.error().message, meant);
}

std::optional<std::string> why_not_a_reset_mode(std::string_view text) {
    return why_none_of(reset_mode_names, text);
}

std::optional<std::string> why_not_an_on_reset(std::string_view text) {
    return why_none_of(on_reset_names, text);
}

std::optional<std::string> why_not_a_breaker_mode(std::string_view text) {
    return why_none_of(breaker_mode_names, text);
}

std::optional<std::string> why_not_a_summarizer_fallback(std::string_view text) {
    return why_none_of(summarizer_fallback_names, text);
}

std::optional<std::string> why_not_a_session_word(std::string_view text) {
    const bool is_word = std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-").contains(c);
    });
    if (is_word) return std::nullopt;
    return "no session has this; write a word of letters, digits and ._- alone";
}

}  // namespace knell
