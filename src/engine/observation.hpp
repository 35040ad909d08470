#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/departure.hpp"
#include "core/event.hpp"
#include "core/leftover.hpp"

namespace knell {

/// What the daemon itself has to say to the engine: nobody is refused it, and its answer is a
/// NotedReply.

/// What the observers have to say about a process that owns sessions.
struct OwnerGone {
    ProcessIdentity process;
    Departure departure;
    std::vector<FoundLeftovers> found;
    bool searched = false;  // leftovers were looked for
};
struct OwnerUnknown {
    ProcessIdentity process;
    std::string why;
};
struct OwnerAlive {
    ProcessIdentity process;
};

/// What became of the leftovers of a generation that has ended.
struct SettleLeftovers {
    SessionId session_id;
    Generation generation = 0;
    std::vector<Leftover> leftovers;  // those whose fate was open
};

/// The connection of a client is closed.
struct ClientGone {
    ClientId client = ClientId::none;
    std::vector<SessionId> sessions;  // that it looked at
    std::vector<SessionId> turns;     // that it began, by their sessions
};

/// A daemon starts: none of the clients that are on record is there any more.
struct ClientsGone {};

/// A hosted session was named by a call that changes nothing.
struct Named {
    SessionId session_id;
};

/// A background process has ended, whoever's child it was.
struct ProcessGone {
    ProcessIdentity process;
    Departure departure;
    std::string never_ran;  // why its program could not be executed; "": it was, or may have been
};
/// What it does now is not what it did before, or it has done nothing for so long that people
/// should know (`stale`).
struct ProcessActive {
    ProcessId process_id;
    ActivityFacts facts;
    bool stale = false;
};
/// It was to be stopped, and was left running.
struct ProcessNotStopped {
    ProcessId process_id;
    ProcessIdentity process;
    std::string why;
};

/// No summary could be made, and its session is left as it is.
struct CompressionFailed {
    SessionId session_id;
    Generation generation = 0;
    std::string why;
};

/// Something everybody may hear that is about no session: the daemon came up or goes, or a person
/// should know (`notice`).
struct Announce {
    EventType type = EventType::notice;
    std::string detail;
};

using Observation =
    std::variant<OwnerGone, OwnerUnknown, OwnerAlive, SettleLeftovers, ClientGone, ClientsGone,
                 Named, ProcessGone, ProcessActive, ProcessNotStopped, CompressionFailed, Announce>;

}  // namespace knell
