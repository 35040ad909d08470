#pragma once

#include <chrono>
#include <cstddef>

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
inline constexpr std::size_t show_messages_max = 1000;

inline constexpr std::chrono::seconds lease_ttl_default{45};
inline constexpr std::chrono::seconds lease_ttl_min{5};
inline constexpr std::chrono::seconds lease_ttl_max{7 * 24 * 3600};
inline constexpr std::chrono::seconds park_window_default{300};
inline constexpr std::chrono::seconds park_window_max{7 * 24 * 3600};
inline constexpr std::size_t heartbeats_per_call_max = 10'000;
inline constexpr std::size_t leftovers_max = 64;  // named in an end; more are counted
inline constexpr std::size_t leftover_command_bytes_max = 200;
inline constexpr std::size_t sweep_report_max = 1000;  // sessions named by one sweep

inline constexpr std::size_t batch_commands_max = 1024;       // decisions in one transaction
inline constexpr std::size_t queue_commands_max = 65'536;     // waiting for the writer
inline constexpr std::size_t queue_reads_max = 16'384;        // waiting for the reader
inline constexpr std::size_t calls_per_connection_max = 256;  // unanswered, then we stop reading
inline constexpr std::size_t unsent_bytes_max = 8U << 20U;    // replies a client does not read
inline constexpr std::chrono::seconds unsent_for_max{30};

}  // namespace knell::limits
