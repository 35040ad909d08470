#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/time.hpp"

/// What Hermes Agent writes down, as values.  What a version does not write is empty.
namespace knell::hermes {

/// A row of `sessions`, with what its messages and its parent say of it.
struct SessionRow {
    std::string id;
    std::string source;
    std::string key;
    std::string user_id;
    std::string chat_type;
    std::string parent_id;
    std::string model;
    std::string model_config;  // JSON
    std::string title;
    std::string cwd;
    WallTime started_at;
    std::optional<WallTime> ended_at;
    std::string end_reason;
    std::int64_t message_count = 0;  // as the row says
    std::int64_t messages = 0;       // that there are
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    std::optional<WallTime> last_activity_at;
    std::optional<WallTime> last_message_at;
    bool finalized = false;  // the gateway has closed it, be there an end or not
    bool pinned = false;
    bool parent_is_there = false;
    std::string parent_end_reason;
    std::optional<WallTime> parent_started_at;
    bool has_children = false;
    /// A turn of it is on, or was when whoever ran it went.
    std::string turn_holder;

    /// The last sign of it that is on record.
    WallTime last_sign() const {
        auto last = started_at;
        if (last_activity_at && *last_activity_at > last) last = *last_activity_at;
        if (last_message_at && *last_message_at > last) last = *last_message_at;
        return last;
    }
};

struct MessageRow {
    std::int64_t id = 0;
    WallTime at;
    std::string role;
    std::string content;
    std::string tool_name;
    std::int64_t tokens = 0;
};

/// A key of the gateway and the session it leads to: of sessions.json, or of `gateway_routing`.
struct RoutingEntry {
    std::string key;
    std::string session_id;
    bool finalized = false;  // expiry_finalized, memory_flushed before that
    bool suspended = false;
};

/// An entry of processes.json: a background process.
struct ProcessEntry {
    std::string id;
    std::string command;
    pid_t pid = 0;
    bool is_on_host = true;                    // else its pid counts in a sandbox
    std::optional<std::uint64_t> start_ticks;  // not written before August 2026
    std::optional<WallTime> started_at;
    std::string session_key;
    std::string parent_session_id;
};

/// A process that says it works for a session, or for all of a gateway.
struct OwnerEntry {
    pid_t pid = 0;
    /// As it was written: ticks since boot, or seconds since 1970.
    std::optional<double> started;
    std::string session_id;  // "": of no particular one
    std::string host;        // "": of this one
    std::string where;       // the file or table that says so
};

}  // namespace knell::hermes
