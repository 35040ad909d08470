#pragma once

#include "wire/field_rows.hpp"

/// What is told of a background process; wire/process_json renders it.
namespace knell::wire {

/// Whether it was asked for by its task, or is told because it belongs to the session.
enum class ProcessScope : std::uint8_t { task, session };
inline constexpr std::array<std::string_view, 2> process_scope_names{"task", "session"};
enum class ProcessState : std::uint8_t { running, exited };
inline constexpr std::array<std::string_view, 2> process_state_names{"running", "exited"};
/// What became of the session that it belongs to.
enum class SessionState : std::uint8_t { open, ended, none };
inline constexpr std::array<std::string_view, 3> session_state_names{"open", "ended", "none"};

template <>
inline constexpr std::span<const std::string_view> names_of<ProcessScope>{process_scope_names};
template <>
inline constexpr std::span<const std::string_view> names_of<ProcessState>{process_state_names};
template <>
inline constexpr std::span<const std::string_view> names_of<SessionState>{session_state_names};

namespace fields {

inline constexpr std::array process_exit_fields{
    always_one_of<ExitKind>("kind", "how it ended"),
    only("it exited", "code", integer, "its exit status"),
    only("a signal ended it", "signal", integer, "which"),
    always("at", time, "when it ended"),
    always("after", time, "the last time it was surely there"),
    always("before", time, "the first time it was surely gone"),
    only("there is any", "evidence", text, "what was seen"),
};

inline constexpr std::array process_fields{
    always("process_id", text, "its name: p- and 13 letters and digits"),
    always("session_id", id, "the session it belongs to"),
    always("generation", integer, "of the session, when it came on record"),
    only("given", "task_id", text, "the task it was started for"),
    always_one_of<ProcessScope>("scope", "task: of the task asked for, or of any when none was"),
    always_one_of<SessionState>("session", "what became of the session; none: not on record"),
    always_one_of<ProcessOrigin>("origin", "how it came on record"),
    always("pid", integer, "as the daemon counts"),
    only("known", "command", text, "its words as one line, shortened"),
    always_list("argv", text, "its words"),
    only("known", "cwd", text, "the directory it was started in"),
    only("given", "title", text, "for people"),
    always("started_at", time, "when it was started; of others, when it came on record"),
    always_one_of<ProcessState>("state", "exited once its exit is on record"),
    always_one_of<ProcessActivity>("activity", "what it and everything below it do"),
    always("activity_since", time, "since when"),
    only("there is any", "evidence", text, "how that is known"),
    always("counts", boolean, "whether it is work that keeps its session"),
    only("it does nothing for long", "stale_since", time, "since when that is told"),
    only("somebody vouches for it", "vouched_until", time, "it counts as work until then"),
    only("somebody wants it stopped", "stop_asked_at", time, "since when"),
    only("somebody wants it stopped", "stop_asked_by", text, "who"),
    only("it is not told by an event", "stopping", boolean,
         "whether it, or something that belongs to it, is being stopped"),
    only("a stop was given up", "stop_failed", text, "what was left running, and why"),
    Field{.name = "exit",
          .type = object,
          .fields = process_exit_fields,
          .when = "exited",
          .about = "how it ended"},
};

/// Of one that a reset has to do with.
inline constexpr std::array blocker_fields{
    always("process_id", text, "its name: p- and 13 letters and digits"),
    always("pid", integer, "as the daemon counts"),
    only("known", "command", text, "its words as one line, shortened"),
    always("started_at", time, "when it was started; of others, when it came on record"),
    always_one_of<ProcessActivity>("activity", "what it and everything below it do"),
    only("somebody vouches for it", "vouched_until", time, "it counts as work until then"),
    only("it can hold a reset", "until", time, "at the longest"),
};

}  // namespace fields
}  // namespace knell::wire
