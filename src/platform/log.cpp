#include "platform/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

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

}  // namespace

void log_line(LogLevel level, std::string_view text) {
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
