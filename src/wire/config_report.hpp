#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace knell {

/// What config.yaml and hooks/ hold, and what is wrong in them.
struct ConfigReport {
    struct Problem {
        std::string file;
        std::int64_t line = 0;    // 0: unknown
        std::int64_t column = 0;  // 0: unknown
        std::string message;
    };
    struct Retention {
        std::int64_t keep_days = 0;
        std::int64_t keep_count = 0;
    };

    std::vector<Problem> problems;
    std::vector<std::string> webhooks;  // names
    std::vector<std::string> hooks;     // names
    std::vector<std::string> remarks;
    std::optional<Retention> events;  // when config.yaml can be used
    std::string config_file;
    bool config_exists = false;
    std::string hooks_dir;

    bool is_ok() const { return problems.empty(); }
};

}  // namespace knell
