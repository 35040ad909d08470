#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/background_process.hpp"
#include "core/event.hpp"
#include "core/guard.hpp"
#include "core/session.hpp"
#include "store/delivery.hpp"
#include "store/store.hpp"

/// What the daemon tells of itself, as values; rpc/methods renders them.
namespace knell::rpc {

/// Something about hooks and webhooks.
struct HooksCall {
    enum class Verb : std::uint8_t { list, test, retry, pause, resume, forget };
    Verb verb = Verb::list;
    std::string name;  // "": all, where that makes sense
};

/// What its HOOK.yaml or its entry in config.yaml says.
struct HookSettings {
    bool is_webhook = false;
    std::string description;  // of a hook
    std::string directory;    // of a hook
    std::string url;          // of a webhook
    std::vector<EventType> events;
    std::chrono::seconds timeout{0};
    std::size_t concurrency = 1;
    std::vector<std::string> remarks;
};

/// One hook or webhook with the state of its deliveries.
struct HookReport {
    Subscription subscription;
    std::optional<HookSettings> settings;  // none: its directory or its entry in the config is gone
    std::string state;
    std::int64_t lag = 0;
    std::size_t under_way = 0;
    std::size_t waiting = 0;
    std::size_t dead = 0;
    std::optional<WallTime> next_try_at;
};

struct HooksReport {
    std::vector<HookReport> hooks;
    struct Problem {
        std::string name;  // of the hook or webhook, or of the file
        std::string message;
    };
    std::vector<Problem> problems;
};
struct HookTestReport {
    bool delivered = false;
    std::chrono::milliseconds took{0};
    std::string what;    // went wrong
    std::string output;  // of a hook
};
struct HooksRetried {
    std::size_t deliveries = 0;
};
struct HookStateReport {
    std::string name;
    std::string state;
};
struct HookForgotten {
    std::string name;
};
using HooksReply =
    std::variant<HooksReport, HookTestReport, HooksRetried, HookStateReport, HookForgotten>;

/// The daemon itself.
struct NodeStatus {
    std::string version;
    std::string commit;
    std::int64_t pid = 0;
    std::string host;
    std::string node_id;
    std::string boot_id;
    std::string home;
    std::string socket;
    std::string http;  // address of HTTP clients; "": none are served
    WallTime started_at;
    std::chrono::seconds uptime{0};
    StoreFacts store;
    std::size_t open = 0;  // sessions
    std::array<std::size_t, status_names.size()> by_status{};
    std::size_t held_resets = 0;  // due, and waiting for background work
    EndCounts ended_day;
    EndCounts ended_week;
    std::int64_t ended_without_reason = 0;
    struct Leases {
        std::size_t live = 0;
        std::uint64_t heartbeats = 0;
        std::uint64_t reaps = 0;
        std::int64_t reap_lateness_last_ms = 0;
        std::int64_t reap_lateness_max_ms = 0;
    } leases;
    GuardCounts tools;                                                     // calls of agents' tools
    struct Processes {                                                     // background processes
        std::array<std::size_t, process_activity_names.size()> running{};  // by activity
        std::size_t max = 0;
        std::uint64_t starts = 0;  // put on record since the daemon came up
        std::array<std::uint64_t, exit_kind_names.size()> exits{};  // the same, by kind
    } processes;
    struct Watch {
        std::size_t held = 0;  // by a pidfd
        std::size_t looked_at = 0;
        std::size_t unclear = 0;
    } watch;
    Seq last_seq = 0;
    Seq first_seq = 0;
    struct JournalFigures {
        std::uint64_t commits = 0;
        std::uint64_t commands = 0;
        std::uint64_t failures = 0;
        std::size_t queued = 0;
    } journal;
    std::size_t reads_queued = 0;
    std::vector<std::string> degraded;  // what does not work as it should, one sentence each
    bool is_healthy = true;             // the record is kept, and config.yaml is without an error
    struct Override {
        std::string key;  // of config.yaml
        std::string value;
        std::string from;  // "knell up --http"
    };
    std::vector<Override> overrides;  // what holds until the daemon stops, whatever the file says
    std::string file_watch_trouble;   // "": none
    std::size_t connections = 0;
    std::size_t connections_max = 0;
    std::size_t attachments = 0;  // clients that look at sessions
    struct Process {              // the daemon's own
        std::int64_t threads = 0;
        std::int64_t resident_bytes = 0;
        std::int64_t descriptors = 0;
        std::int64_t descriptors_max = 0;
    } process;
};

}  // namespace knell::rpc
