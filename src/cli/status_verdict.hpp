#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/json.hpp"

namespace knell::cli {

/// What is known of a daemon beside node.status.
struct DaemonSurroundings {
    JsonObject hooks{};          // the answer of hooks.list
    std::int64_t leftovers = 0;  // processes that sessions left behind and that still run
    std::optional<std::int64_t> disk_free{};
    std::optional<std::int64_t> disk_bytes{};
    std::string log_file{};
    std::optional<std::int64_t> log_bytes{};  // none: there is no such file
};

/// What is to be said first: is all well, and if not, what is wrong and what to do about it.
struct StatusVerdict {
    std::vector<std::string> problems;  // somebody has to do something
    std::vector<std::string> remarks;   // worth knowing

    bool is_healthy() const { return problems.empty(); }
};

/// Pure.
StatusVerdict judge_status(const JsonObject& status, const DaemonSurroundings& around);

}  // namespace knell::cli
