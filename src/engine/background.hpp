#pragma once

#include <optional>
#include <vector>

#include "engine/decide.hpp"

namespace knell {

/// What background processes are to their sessions, and sessions to them.

/// Says whether background work keeps that session, with `counting` processes of it that count,
/// unless that is on record.
void follow_background(Decision& decision, const LiveSession& live, std::size_t counting,
                       const State& state);

/// A session is opened, or handed over, in this decision; `since`: it was kept before.  Says
/// whether its processes keep it.
bool open_background(Decision& decision, const SessionRef& session, const Owner& owner,
                     std::optional<WallTime> since, WallTime now, const State& state);

/// An event about a background process, as it is there: by the session it is of, which is open,
/// has ended (`past`), or is not on record any more.
Event process_event(EventType type, const BackgroundProcess& process, const Session* past,
                    const State& state);

/// The one way a process comes on record; its number is filled in.  Gives it as it is then.
const BackgroundProcess& put_on_record(Decision& decision, BackgroundProcess process, Event event,
                                       const State& state);

/// Of those that run when their session ends: named in the end, as `left`.  What else is named
/// there and is on record gets its id; what is another open session's nobody may stop for this one.
void name_processes(std::vector<Leftover>& leftovers, const SessionId& session_id,
                    const State& state);

/// What was left running and is not on record comes on record as the session's, as long as the node
/// has room for it.  `about`: an event about that session.
void record_leftovers(Decision& decision, std::vector<Leftover>& leftovers, const Event& about,
                      const State& state);

}  // namespace knell
