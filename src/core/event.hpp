#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/background_process.hpp"
#include "core/blocker.hpp"
#include "core/compression.hpp"
#include "core/guard.hpp"
#include "core/labels.hpp"
#include "core/session.hpp"

namespace knell {

enum class EventType : std::uint8_t {
    session_start,
    session_end,
    session_attach,
    session_detach,
    session_stalled,
    session_unknown,
    session_reset_deferred,
    session_compress,
    session_update,
    agent_start,
    agent_end,
    agent_stuck,
    process_start,
    process_exit,
    process_stale,
    notice,
    gateway_startup,
    gateway_shutdown,
};
inline constexpr std::array<std::string_view, 18> event_type_names{"session:start",
                                                                   "session:end",
                                                                   "session:attach",
                                                                   "session:detach",
                                                                   "session:stalled",
                                                                   "session:unknown",
                                                                   "session:reset_deferred",
                                                                   "session:compress",
                                                                   "session:update",
                                                                   "agent:start",
                                                                   "agent:end",
                                                                   "agent:stuck",
                                                                   "process:start",
                                                                   "process:exit",
                                                                   "process:stale",
                                                                   "notice",
                                                                   "gateway:startup",
                                                                   "gateway:shutdown"};

/// One line of the log: what happened, told so that nobody has to ask back.
struct Event {
    Seq seq = 0;
    EventType type = EventType::notice;
    WallTime time;
    SessionId session_id;
    std::string session_key;
    Generation generation = 0;
    std::string platform;
    std::string user_id;
    std::string source;
    SessionId parent_id;
    Relation relation = Relation::none;
    std::string title{};
    std::string cwd{};
    std::string command{};  // of the owner of this generation, as are pid and host
    std::int32_t pid = 0;   // 0: it is no process
    std::string host{};
    WallTime started_at;
    Tally tally;
    std::optional<End> end;          // session:end only
    std::optional<Labels> labels{};  // session:update only: as they are now
    /// process:start, process:exit and process:stale only: as it is now.
    std::optional<BackgroundProcess> process{};
    /// session:reset_deferred: what holds the reset; notice: what runs on after one.
    std::vector<Blocker> blockers{};
    std::optional<Compression> compression{};  // session:compress only
    std::optional<Stuck> stuck{};              // agent:stuck only
    bool after_end = false;                    // of one that had ended by then
    std::string detail;  // why, where there is no end: what made it unknown or stalled

    bool operator==(const Event&) const = default;
};

/// Stable over retries and restarts; for a start or an end it follows from session and generation,
/// so a consumer that saw it before knows.  Holds no dot: it doubles as a webhook id.
std::string event_id(const Event& event, std::string_view node_id);

/// Within one generation the start comes first, all else by its number, then the end, and after it
/// only what a person writes on the session and what becomes of its background processes.  Unique
/// together with session and generation, so the store itself refuses a second start or end.
std::int64_t place_of(const Event& event);

}  // namespace knell
