#pragma once

#include <string_view>

#include <fmt/format.h>

namespace knell {

enum class LogLevel { info, warn, error };

/// One line on standard error, with time and level.  Only daemon/ and cli/ decide to log.
void log_line(LogLevel level, std::string_view text);

template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    log_line(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
    log_line(LogLevel::warn, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    log_line(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace knell
