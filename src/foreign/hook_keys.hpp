#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "config/key_table.hpp"
#include "core/limits.hpp"

/// Every key of HOOK.yaml: Hermes' (name, description, events) and ours.  Reading and checking it,
/// `knell config schema --hook` and its table in docs/config.md come from these rows.
namespace knell::foreign {

/// Nothing when it will do; "" is the directory's name.
std::optional<std::string> why_not_a_hook_name(std::string_view name);

inline constexpr std::int64_t hook_retries_max = 100;

inline constexpr std::array hook_key_rows{
    Key{.path = "name",
        .type = KeyType::text,
        .max = limits::subscriber_name_bytes_max,
        .if_missing = "the directory's name",
        .refuse = why_not_a_hook_name,
        .pattern = "^(?!\\.{1,2}$)[A-Za-z0-9._-]*$",
        .about = "Name in commands and logs: letters, digits and `._-`, at most 64; each once"},
    Key{.path = "description",
        .type = KeyType::prose,
        .max = limits::config_bytes_max,
        .if_missing = "none",
        .about = "What it does, for people"},
    Key{.path = "events",
        .type = KeyType::texts,
        .min = 1,
        .max = limits::event_patterns_max,
        .presence = Presence::required,
        .example = "[session:end]",
        .about = "Which events it is run for: names, `session:*`, or `*` for all"},
    Key{.path = "command",
        .type = KeyType::command,
        .min = 1,
        .max = limits::command_words_max,
        .if_missing = "`handler.py`, else the one executable file",
        .about = "What to run, without a shell"},
    Key{.path = "timeout",
        .type = KeyType::duration,
        .min = 1,
        .max = seconds_in(limits::hook_timeout_max),
        .fallback = "1m",
        .unit = "seconds",
        .about = "How long one run may take"},
    Key{.path = "concurrency",
        .type = KeyType::integer,
        .min = 1,
        .max = limits::delivery_concurrency_max,
        .fallback = "1",
        .unit = "runs",
        .about = "How many events it is run for at once; never for two of the same session"},
    Key{.path = "retries",
        .type = KeyType::integer,
        .max = hook_retries_max,
        .if_missing = "tried again for three days",
        .unit = "runs",
        .example = "0",
        .about = "How often it is run again for an event for which it failed; 0: never"},
};

inline constexpr KeyTable hook_keys{.file = "HOOK.yaml", .keys = hook_key_rows, .is_shared = true};

}  // namespace knell::foreign
