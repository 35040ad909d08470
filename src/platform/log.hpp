#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace knell {

enum class LogLevel { info, warn, error };

/// One line on standard error, with time and level.  Only daemon/ and cli/ decide to log.
void log_line(LogLevel level, std::string_view text);

/// Where standard error is the file at `path`, keeps it to a size from now on; see LogFile.  Where
/// it is anything else, nothing changes.  Before there are other threads.
void keep_log_file(const std::string& path);
/// Whether it does, as in a daemon that was started in the background.
bool keeps_log_file();
/// Goes on in a new file when somebody moved or deleted the one that is kept.  Any thread.
void keep_log_in_place();

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
