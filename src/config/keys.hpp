#pragma once

#include <array>

#include "config/key_checks.hpp"
#include "config/key_table.hpp"
#include "config/webhook_url_check.hpp"
#include "core/limits.hpp"
#include "core/subscriber_name.hpp"

/// Every key of config.yaml.  Reading and checking it, `knell config show|init|schema` and
/// docs/config.md all come from this table.
///
/// A new key is a row here, a member of what it is for, and their binding (config/binding.hpp); a
/// binding that is missing does not compile, a stale docs/config.md does not pass its test.
namespace knell {

inline constexpr std::array config_key_rows{
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

inline constexpr std::array refused_config_key_rows{
    RefusedKey{"webhooks[].secret",
               "does not belong into this file; put it into one of its own, name that with "
               "secret_file, and make a new secret if others could read this one"},
};

inline constexpr KeyTable config_keys{
    .file = "config.yaml", .keys = config_key_rows, .refused = refused_config_key_rows};

}  // namespace knell
