#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/key_checks.hpp"
#include "config/webhook_url_check.hpp"
#include "core/limits.hpp"
#include "core/subscriber_name.hpp"

/// Every key of config.yaml.  Reading and checking it, `knell config show|init|schema` and
/// docs/config.md all come from this table.
///
/// A new key is a row here, a member of what it is for, and their binding (config/binding.hpp); a
/// binding that is missing does not compile, a stale docs/config.md does not pass its test.
namespace knell {

enum class KeyType : std::uint8_t {
    integer,
    duration,
    boolean,
    text,
    texts,  // a list, or one text for a list of one
    path,   // relative to config.yaml; ~/ is the home of whoever reads it
    items,  // a list of maps; their keys have "[]" in their paths
};

enum class Presence : std::uint8_t {
    optional,
    required,
    one_of,       // of those in the same map that say so, at least one is required
    exactly_one,  // the same, and no second
};

struct Key {
    std::string_view path;  // "events.keep_days", "webhooks[].timeout"
    KeyType type = KeyType::text;
    /// Of an integer its value; of a duration its seconds; of texts and items how many there are;
    /// of a text and a path the bytes.
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::string_view fallback = {};  // the default, as one would write it; "": none
    Presence presence = Presence::optional;
    /// What is counted: the events of a number.  Of a duration what a bare number counts, "days"
    /// where the name of the key says so.  Of items what one of them is called.
    std::string_view unit = {};
    /// Why a text will not do; its pattern in the schema says nearly the same.
    std::optional<std::string> (*refuse)(std::string_view) = nullptr;
    std::string_view pattern = {};
    std::string_view example = {};  // where there is no default
    bool may_hold_token = false;    // a URL: shown without what follows its host
    std::string_view about;         // one sentence, without its full stop

    constexpr std::string_view name() const { return path.substr(path.rfind('.') + 1); }
    /// The path up to the last dot, with it: "events.", "webhooks[].", "".
    constexpr std::string_view section() const { return path.substr(0, path.rfind('.') + 1); }
    constexpr std::chrono::seconds bare_unit() const {
        return unit == "days" ? std::chrono::days{1} : std::chrono::seconds{1};
    }
};

constexpr std::int64_t seconds_in(std::chrono::seconds duration) {
    return duration.count();
}

inline constexpr std::array config_keys{
    Key{.path = "events.keep_days",
        .type = KeyType::duration,
        .min = seconds_in(std::chrono::days{1}),
        .max = seconds_in(limits::keep_days_max),
        .fallback = "30",
        .unit = "days",
        .about = "How long events are kept; older ones are deleted"},
    Key{.path = "events.keep_count",
        .type = KeyType::integer,
        .min = 1,
        .max = limits::keep_count_max,
        .fallback = "10000000",
        .unit = "events",
        .about = "How many events are kept; the oldest beyond that are deleted"},
    Key{.path = "webhooks",
        .type = KeyType::items,
        .max = limits::subscribers_max,
        .unit = "webhook",
        .about = "Where events are sent to"},
    Key{.path = "webhooks[].name",
        .type = KeyType::text,
        .min = 1,
        .max = limits::subscriber_name_bytes_max,
        .presence = Presence::required,
        .refuse = why_not_a_subscriber_name,
        .pattern = "^[A-Za-z0-9._-]+$",
        .example = "ops",
        .about = "Name in commands and logs: letters, digits and `._-`, at most 64; each once"},
    Key{.path = "webhooks[].url",
        .type = KeyType::text,
        .min = 1,
        .max = limits::url_bytes_max,
        .presence = Presence::required,
        .refuse = why_not_a_webhook_url,
        .pattern = "^(https|http)://[^#@]+$",
        .example = "https://HOST/PATH",
        .may_hold_token = true,
        .about = "Where to send to: `https://…`, or `http://` for 127.0.0.0/8, `[::1]` and "
                 "`localhost`; no user, password or `#fragment`"},
    Key{.path = "webhooks[].events",
        .type = KeyType::texts,
        .min = 1,
        .max = limits::event_patterns_max,
        .fallback = "\"*\"",
        .about = "Which events are sent: names, `session:*`, or `*` for all"},
    Key{.path = "webhooks[].secret_file",
        .type = KeyType::path,
        .min = 1,
        .max = limits::cwd_bytes_max,
        .presence = Presence::one_of,
        .refuse = why_not_a_secret_file,
        .pattern = "^(?!whsec_)",
        .example = "ops.secret",
        .about = "The file that holds the secret"},
    Key{.path = "webhooks[].secret_env",
        .type = KeyType::text,
        .min = 1,
        .max = limits::cwd_bytes_max,
        .presence = Presence::one_of,
        .refuse = why_not_a_secret_variable,
        .pattern = "^(?!whsec_)[A-Za-z_][A-Za-z0-9_]*$",
        .example = "OPS_SECRET",
        .about = "The variable in the daemon's environment that holds the secret"},
    Key{.path = "webhooks[].secrets",
        .type = KeyType::items,
        .max = limits::webhook_secrets_max,
        .presence = Presence::one_of,
        .unit = "secret",
        .example = "[{file: new.secret}, {env: OLD}]",
        .about = "Several secrets while one is replaced; each of them signs"},
    Key{.path = "webhooks[].secrets[].file",
        .type = KeyType::path,
        .min = 1,
        .max = limits::cwd_bytes_max,
        .presence = Presence::exactly_one,
        .refuse = why_not_a_secret_file,
        .pattern = "^(?!whsec_)",
        .example = "new.secret",
        .about = "The file that holds this secret"},
    Key{.path = "webhooks[].secrets[].env",
        .type = KeyType::text,
        .min = 1,
        .max = limits::cwd_bytes_max,
        .presence = Presence::exactly_one,
        .refuse = why_not_a_secret_variable,
        .pattern = "^(?!whsec_)[A-Za-z_][A-Za-z0-9_]*$",
        .example = "OLD",
        .about = "The variable that holds this secret"},
    Key{.path = "webhooks[].allow_internal",
        .type = KeyType::boolean,
        .fallback = "false",
        .about = "Whether private and link-local addresses are allowed"},
    Key{.path = "webhooks[].timeout",
        .type = KeyType::duration,
        .min = 1,
        .max = seconds_in(limits::webhook_timeout_max),
        .fallback = "15s",
        .unit = "seconds",
        .about = "How long one attempt may take"},
    Key{.path = "webhooks[].concurrency",
        .type = KeyType::integer,
        .min = 1,
        .max = limits::delivery_concurrency_max,
        .fallback = "1",
        .unit = "attempts",
        .about = "How many attempts are made at once"},
};

/// Keys that people are likely to write, and why there are none.
struct RefusedKey {
    std::string_view path;
    std::string_view why;
};
inline constexpr std::array refused_config_keys{
    RefusedKey{"webhooks[].secret",
               "does not belong into this file; put it into one of its own, name that with "
               "secret_file, and make a new secret if others could read this one"},
};

/// What may stand in the map that `section` names ("" is the whole file), in the order of the
/// table: "events", "webhooks".
std::vector<std::string_view> names_in_section(std::string_view section);

/// nullptr: there is none, or it is a map of others.
const Key* find_key(std::string_view path);

/// What it takes, for people: "whole days, 1 to 36500".
std::string describe_values(const Key& key);

}  // namespace knell
