#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/end.hpp"

namespace knell {

/// Every way a session comes to its end.  Nothing in the engine can end one without naming its way
/// here, and tests/conformance/end_paths_test.cpp walks the table: a way that is missing there does
/// not compile, one that tells no `session:end` fails.
enum class EndPath : std::uint8_t {
    closed,
    waited_for,
    spooled,
    taken_over,
    claimed,
    command_completed,
    owner_exited,
    owner_signaled,
    owner_oom_killed,
    owner_lost,
    host_restarted,
    lease_ran_out,
    park_window_over,
    detach_window_over,
    daemon_stopped,
    idle_too_long,
    day_is_over,
    reset_by_message,
    reset_by_person,
    branched,
    compressed,
};

struct EndPathRow {
    EndPath path;
    std::string_view name;
    std::optional<Reason> reason;  // none: whatever the closing client says
    Proof proof;                   // who came this way saw it, or only says so
    std::string_view about;
};

inline constexpr std::array<EndPathRow, 21> end_path_table{{
    {EndPath::closed, "closed", {}, Proof::declared, "somebody said session.close"},
    {EndPath::waited_for,
     "waited_for",
     {},
     Proof::observed,
     "the command's parent, its `knell run`, saw it end"},
    {EndPath::spooled,
     "spooled",
     {},
     Proof::declared,
     "it lived and was closed while no daemon ran"},
    {EndPath::taken_over, "taken_over", Reason::superseded, Proof::declared,
     "another owner took it over"},
    {EndPath::claimed, "claimed", Reason::superseded, Proof::declared,
     "it was parked and a new owner claimed it"},
    {EndPath::command_completed, "command_completed", Reason::completed, Proof::observed,
     "the command under `knell run` exited with 0"},
    {EndPath::owner_exited, "owner_exited", Reason::exited, Proof::observed, "its process exited"},
    {EndPath::owner_signaled, "owner_signaled", Reason::signaled, Proof::observed,
     "a signal ended its process"},
    {EndPath::owner_oom_killed, "owner_oom_killed", Reason::oom_killed, Proof::observed,
     "the kernel ended its process for want of memory"},
    {EndPath::owner_lost, "owner_lost", Reason::owner_lost, Proof::observed,
     "its process is gone and nobody saw how"},
    {EndPath::host_restarted, "host_restarted", Reason::host_restart, Proof::observed,
     "the boot its process lived in is over"},
    {EndPath::lease_ran_out, "lease_ran_out", Reason::reaped, Proof::inferred,
     "its lease was not renewed"},
    {EndPath::park_window_over, "park_window_over", Reason::owner_lost, Proof::observed,
     "it was parked and nobody claimed it"},
    {EndPath::detach_window_over, "detach_window_over", Reason::detached_expiry, Proof::policy,
     "the daemon hosted it, and nothing held it any more"},
    {EndPath::daemon_stopped, "daemon_stopped", Reason::shutdown, Proof::declared,
     "the daemon that hosted it was stopped on request"},
    {EndPath::idle_too_long, "idle_too_long", Reason::idle_expiry, Proof::policy,
     "nobody said anything for as long as its reset policy allows"},
    {EndPath::day_is_over, "day_is_over", Reason::daily_reset, Proof::policy,
     "the hour of its reset policy has passed since somebody last said something"},
    {EndPath::reset_by_message, "reset_by_message", Reason::auto_reset, Proof::policy,
     "a message came for it when it was past its reset policy, or suspended"},
    {EndPath::reset_by_person, "reset_by_person", Reason::manual_reset, Proof::declared,
     "somebody asked for a new conversation"},
    {EndPath::branched, "branched", Reason::branched, Proof::declared,
     "a child goes on with what was said in it"},
    {EndPath::compressed, "compressed", Reason::compression, Proof::declared,
     "a child goes on from a summary of it"},
}};

constexpr const EndPathRow& row_of(EndPath path) {
    return end_path_table.at(static_cast<std::size_t>(path));
}

/// Whether a session that comes this way may end for that reason.
constexpr bool leads_to(EndPath path, Reason reason) {
    const auto& row = row_of(path);
    if (path == EndPath::waited_for) {
        return reason == Reason::completed || reason == Reason::exited ||
               reason == Reason::signaled;
    }
    return row.reason ? *row.reason == reason : row_of(reason).said_by == SaidBy::anyone;
}

}  // namespace knell
