#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/session.hpp"

namespace knell::sim {

/// What can be said about a session, or happen to it.
enum class Happening : std::uint8_t {
    create,
    create_and_close,
    resume,
    resume_and_close,
    takeover,
    append,
    append_wrong,
    close,
    close_wrong,
    close_any,
    turn_on,
    turn_off,
    turn_wrong,
    beat,
    beat_wrong,
    owner_exited,
    owner_signaled,
    owner_oom_killed,
    owner_lost,
    command_completed,
    host_restarted,
    owner_gone_parks,
    owner_unknown,
    owner_alive,
    lease_due,
    lease_held,
    stalled_due,
    park_window_over,
    daemon_stopped,
    store_refused,
};
inline constexpr std::array<std::string_view, 30> happening_names{
    "create",         "create and close",
    "resume",         "resume and close",
    "takeover",       "append",
    "append, wrong",  "close",
    "close, wrong",   "close, any",
    "turn on",        "turn off",
    "turn, wrong",    "beat",
    "beat, wrong",    "owner exited",
    "owner signaled", "owner oom-killed",
    "owner lost",     "command completed",
    "host restarted", "owner gone, parks",
    "owner unknown",  "owner alive",
    "lease due",      "lease held",
    "stalled due",    "park window over",
    "daemon stopped", "store refused"};

/// The state a session was in before.
enum class Before : std::uint8_t { never, idle, running, unknown, stalled, detached, ended };
inline constexpr std::array<std::string_view, 7> before_names{
    "never seen", "idle", "running", "unknown", "stalled", "detached", "ended"};

Before before_of(Status status);

/// The transition table, and how often the simulator has been in each of its cells.
class Coverage {
  public:
    void count(Happening happening, Before before) { ++at(happening, before); }
    void add(const Coverage& other);
    std::size_t missing() const;
    /// The table for people; names every cell that can be and was not reached.
    std::string report() const;

  private:
    std::uint64_t& at(Happening happening, Before before) {
        return cells_.at(static_cast<std::size_t>(happening)).at(static_cast<std::size_t>(before));
    }
    std::array<std::array<std::uint64_t, before_names.size()>, happening_names.size()> cells_{};
};

/// Why a cell cannot be; "": it can.
std::string_view why_not(Happening happening, Before before);

}  // namespace knell::sim
