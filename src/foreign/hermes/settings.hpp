#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace knell::hermes {

/// What config.yaml says of when sessions end.  What it does not say is empty: what holds then
/// depends on the version.
struct Settings {
    std::string reset_mode;  // none, idle, daily, both
    std::optional<std::int64_t> idle_minutes;
    std::optional<std::int64_t> at_hour;
    std::optional<std::int64_t> process_max_age_hours;
    std::optional<bool> auto_prune;
    std::optional<std::int64_t> retention_days;
    std::vector<std::string> remarks;  // values that do not do what they seem to say
};

/// Pure.  `path` is for errors.
Result<Settings> parse_settings(std::string_view text, const std::string& path);

/// How long a background process keeps Hermes from resetting its session; nothing: for ever, which
/// was so before schema 17 (June 2026).
std::optional<std::chrono::hours> process_age_max(const Settings& settings, int schema);

/// A directory in hooks/.
struct HookSummary {
    std::string name;
    std::vector<std::string> events;
    bool has_handler = false;
    std::string problem;  // why it is not run
};

/// Those of a home, by name.  Reads HOOK.yaml and looks whether handler.py is there.
std::vector<HookSummary> read_hook_summaries(const std::string& hooks_dir);

}  // namespace knell::hermes
