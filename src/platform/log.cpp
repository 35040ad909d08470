#include "platform/log.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/mutex.hpp"
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

/// The file behind standard error, which every thread writes to.
struct KeptFile {
    Mutex mutex;
    std::optional<LogFile> file KNELL_GUARDED_BY(mutex);
};

KeptFile& kept_file() {
    static KeptFile kept;
    return kept;
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
    auto& kept = kept_file();
    const Lock lock(kept.mutex);
    kept.file = LogFile::behind(STDERR_FILENO, path, {});
}

bool keeps_log_file() {
    auto& kept = kept_file();
    const Lock lock(kept.mutex);
    return kept.file.has_value();
}

void keep_log_in_place() {
    auto& kept = kept_file();
    const Lock lock(kept.mutex);
    if (auto& file = kept.file) file->stay_in_place();
}

void log_line(LogLevel level, std::string_view line) {
    const auto text = on_one_line(line);
    auto& kept = kept_file();
    const Lock lock(kept.mutex);
    if (auto& file = kept.file) file->rotate_when_full();
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
