#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

/// What a config.yaml of Hermes may say, as far as it is checked: facts about Hermes of August
/// 2026.
namespace knell::hermes {

enum class HermesType : std::uint8_t {
    boolean,
    integer,
    number,
    choice,  // one of the reset modes
    texts,
    any,  // only its name is known
};

struct HermesKey {
    std::string_view name;
    HermesType type = HermesType::any;
    double min = 0.0;
    double max = std::numeric_limits<double>::max();
};

/// Of `session_reset`, at the root or in `gateway`.
inline constexpr std::array hermes_reset_keys{
    HermesKey{.name = "mode", .type = HermesType::choice},
    HermesKey{.name = "at_hour", .type = HermesType::integer, .max = 23},
    HermesKey{.name = "idle_minutes", .type = HermesType::integer, .min = 1},
    HermesKey{.name = "notify", .type = HermesType::boolean},
    HermesKey{.name = "notify_exclude_platforms", .type = HermesType::texts},
    HermesKey{.name = "bg_process_max_age_hours", .type = HermesType::number},
};
inline constexpr std::array<std::string_view, 4> hermes_reset_modes{"none", "idle", "daily",
                                                                    "both"};

/// Of `sessions`.
inline constexpr std::array hermes_session_keys{
    HermesKey{.name = "auto_prune", .type = HermesType::boolean},
    HermesKey{.name = "retention_days", .type = HermesType::number, .min = 1},
    HermesKey{.name = "auto_archive", .type = HermesType::boolean},
    HermesKey{.name = "auto_archive_days", .type = HermesType::number},
    HermesKey{.name = "vacuum_after_prune", .type = HermesType::boolean},
    HermesKey{.name = "min_vacuum_interval_days", .type = HermesType::number},
    HermesKey{.name = "min_interval_hours", .type = HermesType::number},
    HermesKey{.name = "write_json_snapshots", .type = HermesType::boolean},
    HermesKey{.name = "fts_optimize_notice"},
    HermesKey{.name = "cjk_fts", .type = HermesType::boolean},
    HermesKey{.name = "search_slow_ms", .type = HermesType::number},
    HermesKey{.name = "max_resume_messages", .type = HermesType::integer},
    HermesKey{.name = "max_export_messages", .type = HermesType::integer},
};

/// Of an entry of `fallback_providers`, and of `fallback_model`.
inline constexpr std::array<std::string_view, 6> hermes_fallback_keys{
    "provider", "model", "base_url", "api_key", "key_env", "api_key_env"};

/// Keys of a provider that people write at the root.
inline constexpr std::array<std::string_view, 4> hermes_misplaced_keys{
    "base_url", "api_key", "api_mode", "rate_limit_delay"};

inline constexpr std::array<std::string_view, 112> hermes_root_keys{
    "_config_version",
    "agent",
    "always_log_local",
    "approvals",
    "auxiliary",
    "bedrock",
    "browser",
    "checkpoints",
    "code_execution",
    "command_allowlist",
    "compression",
    "computer_use",
    "context",
    "context_file_max_chars",
    "credential_pool_strategies",
    "cron",
    "curator",
    "custom_providers",
    "dashboard",
    "database",
    "delegation",
    "desktop",
    "discord",
    "display",
    "doctor",
    "fallback_model",
    "fallback_providers",
    "file_read_max_chars",
    "filter_silence_narration",
    "gateway",
    "goals",
    "group_sessions_per_user",
    "honcho",
    "hooks",
    "hooks_auto_accept",
    "human_delay",
    "image_gen",
    "kanban",
    "known_builtin_toolsets",
    "known_plugin_toolsets",
    "logging",
    "loops",
    "lsp",
    "matrix",
    "mattermost",
    "max_concurrent_sessions",
    "max_live_sessions",
    "mcp",
    "mcp_discovery_timeout",
    "mcp_servers",
    "mcp_single_query_discovery_timeout",
    "memory",
    "moa",
    "model",
    "model_catalog",
    "model_overrides",
    "models_dev",
    "monitoring",
    "multiplex_profiles",
    "network",
    "onboarding",
    "openrouter",
    "paste_collapse_char_threshold",
    "paste_collapse_threshold",
    "paste_collapse_threshold_fallback",
    "personalities",
    "platform_hints",
    "platform_toolsets",
    "platforms",
    "plugins",
    "prefill_messages_file",
    "privacy",
    "profile_routes",
    "prompt_caching",
    "providers",
    "proxy",
    "quick_commands",
    "require_mention",
    "reset_triggers",
    "runtime",
    "secrets",
    "security",
    "session",
    "session_reset",
    "sessions",
    "signal",
    "skills",
    "slack",
    "smart_model_routing",
    "streaming",
    "stt",
    "stt_echo_transcripts",
    "telegram",
    "telemetry",
    "terminal",
    "thread_sessions_per_user",
    "timeouts",
    "timezone",
    "tool_loop_guardrails",
    "tool_output",
    "tools",
    "toolsets",
    "tts",
    "unauthorized_dm_behavior",
    "updates",
    "vertex",
    "video_gen",
    "voice",
    "wake_word",
    "web",
    "whatsapp",
    "x_search"};

}  // namespace knell::hermes
