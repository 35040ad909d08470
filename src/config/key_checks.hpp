#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Rules that texts of config.yaml must keep.  Nothing when one will do; a message never quotes it:
/// people paste the secret where its place belongs.
namespace knell {

std::optional<std::string> why_not_a_secret_file(std::string_view text);
std::optional<std::string> why_not_a_secret_variable(std::string_view text);

/// What stands for the machine's own time zone.
inline constexpr std::string_view local_zone_word = "local";
std::optional<std::string> why_not_a_time_zone(std::string_view text);
std::optional<std::string> why_not_a_reset_mode(std::string_view text);
std::optional<std::string> why_not_an_on_reset(std::string_view text);
std::optional<std::string> why_not_a_breaker_mode(std::string_view text);
std::optional<std::string> why_not_a_summarizer_fallback(std::string_view text);
/// A word that sessions have: no session has another as its source or platform.
std::optional<std::string> why_not_a_session_word(std::string_view text);

}  // namespace knell
