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
    attach,
    detach,
    client_gone,
    detach_window_over,
    message,
    suspended,
    reset_by_person,
    branched,
    compressed,
    idle_too_long,
    day_is_over,
    reset_by_message,
    reset_deferred,
};
inline constexpr std::array<std::string_view, 43> happening_names{
    "create",          "create and close",
    "resume",          "resume and close",
    "takeover",        "append",
    "append, wrong",   "close",
    "close, wrong",    "close, any",
    "turn on",         "turn off",
    "turn, wrong",     "beat",
    "beat, wrong",     "owner exited",
    "owner signaled",  "owner oom-killed",
    "owner lost",      "command completed",
    "host restarted",  "owner gone, parks",
    "owner unknown",   "owner alive",
    "lease due",       "lease held",
    "stalled due",     "park window over",
    "daemon stopped",  "store refused",
    "attach",          "detach",
    "client gone",     "detach window over",
    "message",         "suspend",
    "reset by person", "branch",
    "compress",        "idle too long",
    "day is over",     "reset by message",
    "reset deferred"};

/// The state a session was in before.
enum class Before : std::uint8_t {
    never,
    idle,
    running,
    background,
    unknown,
    stalled,
    detached,
    ended
};
inline constexpr std::array<std::string_view, 8> before_names{
    "never seen", "idle", "running", "background", "unknown", "stalled", "detached", "ended"};

Before before_of(Status status);

/// What can happen to a subscriber.
enum class HookHappening : std::uint8_t {
    comes,
    changes,
    goes,
    takes_it,
    fails,
    ends_it,
    paused,
    resumed,
    sent_again,
    forgotten,
    forget_refused,
    unsaved_at_a_kill,
};
inline constexpr std::array<std::string_view, 12> hook_happening_names{"comes",
                                                                       "file is changed",
                                                                       "goes",
                                                                       "takes an event",
                                                                       "fails",
                                                                       "says: never again",
                                                                       "is paused",
                                                                       "is resumed",
                                                                       "letters sent again",
                                                                       "to be forgotten",
                                                                       "forget not written",
                                                                       "daemon killed unsaved"};

/// What a subscriber was before.
enum class HookState : std::uint8_t { unknown, active, failing, paused, disabled, absent };
inline constexpr std::array<std::string_view, 6> hook_state_names{"unknown", "active",   "failing",
                                                                  "paused",  "disabled", "absent"};

/// What can happen to a background process.
enum class ProcessHappening : std::uint8_t {
    started,
    registered,
    left_behind,
    exited,
    signaled,
    oom_killed,
    lost,
    host_restarted,
    never_ran,
    works,
    idles,
    goes_stale,
    vouched,
    vouch_taken_back,
    vouch_over,
    stop_asked,
    session_ended,
    adopted,
    store_refused,
};
inline constexpr std::array<std::string_view, 19> process_happening_names{
    "is started",       "is registered", "is left behind", "exited",
    "signaled",         "oom-killed",    "lost",           "host restarted",
    "never ran",        "works",         "does nothing",   "goes stale",
    "is vouched for",   "no vouch",      "vouch over",     "is to be stopped",
    "its session ends", "adopted",       "store refused"};

/// What a background process was before.  The later, the more it says of one that is several.
enum class ProcessBefore : std::uint8_t { never, working, idle, stale, vouched, stopping, gone };
inline constexpr std::array<std::string_view, 7> process_before_names{
    "never seen", "working", "idle", "stale", "vouched", "stopping", "gone"};

/// Why a cell cannot be; "": it can.
std::string_view why_not(Happening happening, Before before);
std::string_view why_not(HookHappening happening, HookState before);
std::string_view why_not(ProcessHappening happening, ProcessBefore before);

/// What happened in which state, and how often the simulator has been in each of the cells.
template <typename Row, typename Column, const auto& row_names, const auto& column_names>
class CoverageTable {
  public:
    void count(Row row, Column column) {
        ++cells_.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column));
    }
    void add(const CoverageTable& other);
    std::size_t missing() const;
    /// The table for people; names every cell that can be and was not reached.
    std::string report() const;

  private:
    std::array<std::array<std::uint64_t, column_names.size()>, row_names.size()> cells_{};
};

/// The transition tables of sessions, of subscribers, and of background processes.
class Coverage {
  public:
    void count(Happening happening, Before before) { sessions_.count(happening, before); }
    void count(HookHappening happening, HookState before) { hooks_.count(happening, before); }
    void count(ProcessHappening happening, ProcessBefore before) {
        processes_.count(happening, before);
    }
    void add(const Coverage& other);
    std::size_t missing() const;
    std::string report() const;

  private:
    CoverageTable<Happening, Before, happening_names, before_names> sessions_;
    CoverageTable<HookHappening, HookState, hook_happening_names, hook_state_names> hooks_;
    CoverageTable<ProcessHappening, ProcessBefore, process_happening_names, process_before_names>
        processes_;
};

}  // namespace knell::sim
