#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace knell {

/// What is to be checked: the daemon's own config.yaml and hooks/, unless one of the two is given.
struct ConfigQuestion {
    std::string file;                 // a path; "": none
    std::optional<std::string> text;  // instead of a file
    bool is_hermes = false;           // it is a config.yaml of Hermes
};

/// What config.yaml and hooks/ hold, and what is wrong in them.
struct ConfigReport {
    struct Problem {
        std::string file;
        std::int64_t line = 0;    // 0: unknown
        std::int64_t column = 0;  // 0: unknown
        std::string path;         // of the key; "": the file as a whole
        bool is_error = true;     // else a warning
        std::string message;      // what is wrong
        std::string hint;         // what would be right; "": the message says it
    };
    struct Retention {
        std::int64_t keep_days = 0;
        std::int64_t keep_count = 0;
    };

    std::string file;                   // what was checked
    std::vector<Problem> problems;      // errors first
    std::vector<std::string> webhooks;  // names
    std::vector<std::string> hooks;     // names
    std::vector<std::string> remarks;
    std::optional<Retention> events;  // when config.yaml can be used
    bool config_exists = false;
    std::string hooks_dir;  // "": hooks were not looked at

    bool is_ok() const { return std::ranges::none_of(problems, &Problem::is_error); }
};

/// What became of a request to read config.yaml and the hooks again.
struct ReloadReport {
    bool is_taken = false;                        // config.yaml is in force as it stands now
    std::vector<std::string> changes;             // "events.keep_days 30 -> 7"
    std::vector<ConfigReport::Problem> problems;  // of hooks too
};

}  // namespace knell
