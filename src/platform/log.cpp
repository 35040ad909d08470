#include "platform/log.hpp"

#include <mutex>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "platform/log_file.hpp"

namespace knell {

namespace {

spdlog::logger& logger() {
    static const auto instance = [] {
        auto made = spdlog::stderr_color_mt("knell");
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
        made->flush_on(spdlog::level::info);
        return made;
    }();
    return *instance;
}

/// Guards the file behind standard error, which every thread writes to.
std::mutex& log_mutex() {
    static std::mutex mutex;
    return mutex;
}

std::optional<LogFile>& kept_file() {
    static std::optional<LogFile> file;
    return file;
}

/// What others chose, such as a file's name, must not look like a line of ours.
std::string on_one_line(std::string_view line) {
    std::string text;
    text.reserve(line.size());
    for (const char c : line) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            text += c;
        }
    }
    return text;
}

}  // namespace

void keep_log_file(const std::string& path) {
    const std::scoped_lock lock(log_mutex());
    kept_file() = LogFile::behind(STDERR_FILENO, path, {});
}

bool keeps_log_file() {
    const std::scoped_lock lock(log_mutex());
    return kept_file().has_value();
}

void keep_log_in_place() {
    const std::scoped_lock lock(log_mutex());
    if (auto& file = kept_file()) file->stay_in_place();
}

void log_line(LogLevel level, std::string_view line) {
    const auto text = on_one_line(line);
    const std::scoped_lock lock(log_mutex());
    if (auto& file = kept_file()) file->rotate_when_full();
    switch (level) {
        case LogLevel::info:
            logger().info(text);
            break;
        case LogLevel::warn:
            logger().warn(text);
            break;
        case LogLevel::error:
            logger().error(text);
            break;
    }
}

}  // namespace knell
