#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// Every bound on what comes from outside, in one place.  Past one the answer is `limit` or an
/// error that names the field.
namespace knell::limits {

inline constexpr std::size_t line_bytes_max = 1U << 20U;
inline constexpr std::size_t json_depth_max = 32;
inline constexpr std::size_t id_bytes_max = 200;
inline constexpr std::size_t key_bytes_max = 512;
inline constexpr std::size_t word_bytes_max = 64;  // source, platform, tool_name
inline constexpr std::size_t user_id_bytes_max = 256;
inline constexpr std::size_t model_bytes_max = 200;
inline constexpr std::size_t title_bytes_max = 1000;
inline constexpr std::size_t cwd_bytes_max = 4096;
inline constexpr std::size_t detail_bytes_max = 1000;
inline constexpr std::size_t meta_bytes_max = 16U << 10U;
inline constexpr std::size_t messages_per_append_max = 1000;
inline constexpr std::size_t list_page_max = 1000;
inline constexpr std::size_t list_page_default = 50;
inline constexpr std::size_t events_page_max = 5000;
inline constexpr std::size_t events_page_default = 500;
inline constexpr std::size_t events_scan_max = 100'000;  // looked at for one page
inline constexpr std::size_t show_messages_max = 1000;
/// Where a page of an answer ends, whatever the caller's limit; the item that passes it is the
/// last.
inline constexpr std::size_t page_bytes_max = 4U << 20U;
inline constexpr std::size_t answer_bytes_max = 7U << 20U;  // one line; else `limit` instead of it
inline constexpr std::size_t description_bytes_max = 1000;  // of a hook, as told
inline constexpr std::size_t problems_bytes_max = 1U << 20U;  // of all hooks together

inline constexpr std::chrono::seconds lease_ttl_default{45};
inline constexpr std::chrono::seconds lease_ttl_min{5};
inline constexpr std::chrono::seconds lease_ttl_max{7 * 24 * 3600};
inline constexpr std::chrono::seconds park_window_default{300};
inline constexpr std::chrono::seconds park_window_max{7 * 24 * 3600};
inline constexpr std::size_t heartbeats_per_call_max = 10'000;
inline constexpr std::size_t leftovers_max = 1024;  // named in an end; more are counted
inline constexpr std::size_t leftover_command_bytes_max = 200;
inline constexpr std::size_t owner_command_bytes_max = 256;

// Clients that look at sessions, and sessions that the daemon keeps for them.
inline constexpr std::chrono::seconds detach_window_default = std::chrono::minutes{10};
inline constexpr std::chrono::seconds detach_window_max = std::chrono::days{30};
inline constexpr std::chrono::seconds turn_window_default = std::chrono::hours{6};
/// So long after the last client has gone that is told: whoever reloads a page is back by then.
inline constexpr std::chrono::seconds detach_told_after{5};
/// So long a hosted session that nobody looks at is still listed as live.
inline constexpr std::chrono::seconds detached_grace{30};
inline constexpr std::size_t clients_per_session_max = 4096;
inline constexpr std::size_t attachments_per_client_max = 64;
// Background processes.
inline constexpr std::size_t processes_per_session_default = 64;
inline constexpr std::size_t processes_default = 4096;
inline constexpr std::size_t processes_max = 65'536;
inline constexpr std::size_t process_words_max = 1024;  // of its argv
inline constexpr std::size_t process_argv_bytes_max = 64U << 10U;
inline constexpr std::size_t process_variables_max = 1024;
inline constexpr std::size_t process_environment_bytes_max = 128U << 10U;
inline constexpr std::size_t process_output_bytes_default = 1U << 20U;  // kept on disk
inline constexpr std::size_t process_output_bytes_min = 64U << 10U;
inline constexpr std::size_t process_output_bytes_max = 1U << 30U;
inline constexpr std::size_t process_output_page_default = 64U << 10U;
inline constexpr std::size_t process_output_page_max = 1U << 20U;
inline constexpr std::size_t process_evidence_bytes_max = 500;
inline constexpr std::chrono::hours process_vouch_max{7 * 24};
inline constexpr std::chrono::minutes process_stale_default{30};
inline constexpr std::chrono::minutes process_stale_min{1};
inline constexpr std::chrono::days process_stale_max{30};
/// So long a process that has ended is listed, and its output kept; the record stays.
inline constexpr std::chrono::minutes process_kept_after_exit{30};

// Calls of agents' tools.
inline constexpr std::size_t tool_name_bytes_max = 200;
inline constexpr std::size_t tool_error_bytes_max = 200;  // kept of an error, and told
inline constexpr std::size_t tool_result_hash_bytes_max = 200;
inline constexpr std::size_t tool_reports_per_call_max = 5000;
inline constexpr std::int64_t guard_threshold_max = 1'000'000;
inline constexpr std::size_t guard_normal_tools_max = 256;
inline constexpr std::chrono::hours guard_cool_down_max{24};

inline constexpr std::size_t sweep_report_max = 1000;  // sessions named by one sweep

inline constexpr std::size_t parents_max = 1000;      // looked at for a circle of parents
inline constexpr std::size_t former_owners_max = 16;  // of a session, on record

inline constexpr std::size_t subscribers_max = 500;
inline constexpr std::size_t hook_output_bytes_max = 64U << 10U;
inline constexpr std::size_t hook_output_bytes_per_step_max = 256U << 10U;  // read in one go
inline constexpr std::size_t hook_line_bytes_max = 200;  // of its output, quoted in an outcome
inline constexpr std::size_t hook_variable_bytes_max = 32U << 10U;  // of its environment
inline constexpr std::chrono::seconds hook_timeout_default{60};
inline constexpr std::chrono::seconds hook_timeout_max{600};
inline constexpr std::chrono::seconds webhook_timeout_default{15};
inline constexpr std::chrono::seconds webhook_timeout_max{60};
inline constexpr std::chrono::seconds webhook_connect_timeout_max{5};
inline constexpr std::chrono::hours webhook_retry_after_max{24};
inline constexpr std::size_t webhook_head_bytes_max = 32U << 10U;  // of an answer
inline constexpr std::size_t webhook_body_bytes_max = 64U << 10U;  // read, thrown away
inline constexpr std::size_t webhook_location_bytes_max = 200;     // of a redirect, as told
inline constexpr std::size_t webhook_idle_connections_max = 64;
inline constexpr std::size_t secret_file_bytes_max = 4U << 10U;
inline constexpr std::size_t webhook_key_bytes_min = 24;
inline constexpr std::size_t webhook_key_bytes_max = 64;
inline constexpr std::size_t delivery_concurrency_max = 16;  // attempts of one subscriber at once
inline constexpr std::size_t delivery_window_max = 1000;     // read, neither delivered nor kept
inline constexpr std::size_t letters_waiting_max = 10'000;   // of one subscriber; then it stops
                                                             // reading and the log waits
inline constexpr std::size_t letters_dead_max = 10'000;      // then the oldest is lost, and counted
inline constexpr std::size_t subscriber_name_bytes_max = 64;
inline constexpr std::size_t config_bytes_max = 1U << 20U;  // config.yaml, HOOK.yaml
inline constexpr std::size_t yaml_nodes_max = 20'000;       // keys and values in one of them
inline constexpr std::size_t yaml_depth_max = 32;
inline constexpr std::size_t file_problems_max = 100;  // told of one file
inline constexpr std::size_t command_words_max = 256;  // of a hook
inline constexpr std::size_t event_patterns_max = 64;  // of one subscriber
inline constexpr std::size_t webhook_secrets_max = 4;  // while one is rotated
inline constexpr std::size_t url_bytes_max = 2048;
inline constexpr std::chrono::days keep_days_max{36'500};
inline constexpr std::int64_t keep_count_max = 1'000'000'000'000;

// When sessions are reset, and what sums them up.
inline constexpr std::size_t reset_overrides_max = 2000;
inline constexpr std::chrono::minutes reset_idle_max = std::chrono::days{365};
inline constexpr std::chrono::days reset_process_age_max{365};
inline constexpr std::size_t time_zone_bytes_max = 64;
inline constexpr std::size_t summarizer_providers_max = 16;
inline constexpr std::chrono::hours summarizer_timeout_max{1};
inline constexpr std::chrono::days summarizer_cool_down_max{7};
inline constexpr std::int64_t summarizer_tokens_max = 1'000'000'000;
inline constexpr std::size_t summarizer_tail_max = 1000;

inline constexpr std::size_t feeds_max = 16'384;                   // live feeds at once
inline constexpr std::size_t feed_page_events_max = 500;           // read at a time for one feed
inline constexpr std::size_t feed_page_bytes_max = 512U << 10U;    // and sent at a time
inline constexpr std::size_t feed_unsent_bytes_max = 256U << 10U;  // then it waits for the reader
inline constexpr std::size_t feed_live_bytes_max = 4U << 20U;      // of one commit; more is read

/// How long space.activity still shows a session that has ended; how many events are looked at for
/// those, how many of them are shown, and where the answer ends.
inline constexpr std::chrono::minutes space_window{5};
inline constexpr std::size_t space_events_scan_max = 20'000;
inline constexpr std::size_t space_ended_max = 1000;
inline constexpr std::size_t space_bytes_max = 6U << 20U;
inline constexpr std::size_t space_gone_max = 10'000;  // remembered for those who ask what changed
inline constexpr std::size_t etags_bytes_max = 1024;   // of an If-None-Match
/// Other daemons that are asked for their picture; how long one may take to answer, and how long it
/// is let alone: after an answer, and at most after it did not answer again and again.  Nobody is
/// asked unless somebody has looked lately.
inline constexpr std::size_t gateways_max = 16;
inline constexpr std::chrono::seconds gateway_timeout{5};
inline constexpr std::chrono::seconds gateway_pause{2};
inline constexpr std::chrono::seconds gateway_pause_max{30};
inline constexpr std::chrono::seconds gateway_interest{60};

/// Summaries of sessions: what one may have, what its providers are given, how many are made at
/// once and how many more wait, what is told of a provider's standard error, and of how many
/// sessions it is remembered that theirs failed.
inline constexpr std::size_t summary_bytes_max = 1U << 20U;
inline constexpr std::int64_t summary_input_bytes_max = 256LL << 20U;
inline constexpr std::size_t summary_jobs_max = 4;
inline constexpr std::size_t summary_queue_max = 256;
inline constexpr std::size_t summary_stderr_bytes_max = 500;
inline constexpr std::size_t summary_cool_downs_max = 4096;

inline constexpr std::size_t batch_commands_max = 1024;       // decisions in one transaction
inline constexpr std::size_t queue_commands_max = 65'536;     // waiting for the writer
inline constexpr std::size_t queue_beats_reserve = 65'536;    // beyond these, heartbeats alone
inline constexpr std::size_t queue_reads_max = 16'384;        // waiting for the reader
inline constexpr std::size_t calls_per_connection_max = 256;  // unanswered, then we stop reading
/// Calls that were not answered yet, by the length of their lines: of one connection (then we stop
/// reading from it) and of all together (then `limit`).  The reserve is for connections that wait
/// for nothing else, such as one that renews leases; short calls are bounded by their number alone.
inline constexpr std::size_t asked_bytes_max = 4U << 20U;
inline constexpr std::size_t asked_bytes_all_max = 64U << 20U;
inline constexpr std::size_t asked_bytes_reserve = 64U << 20U;
inline constexpr std::size_t short_call_bytes_max = 1U << 10U;
inline constexpr std::size_t unsent_bytes_max = 8U << 20U;       // replies a client does not read
inline constexpr std::size_t unsent_bytes_all_max = 64U << 20U;  // of all clients together
inline constexpr std::size_t half_read_bytes_all_max = 64U << 20U;  // lines without their end
inline constexpr std::chrono::seconds unsent_for_max{30};

}  // namespace knell::limits
