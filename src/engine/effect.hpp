#pragma once

#include <variant>
#include <vector>

#include "core/background_process.hpp"
#include "core/departure.hpp"
#include "core/ids.hpp"
#include "core/leftover.hpp"
#include "core/owner.hpp"

namespace knell {

/// What a decision asks of the outside world.  Carried out only after its commit.

struct WatchOwner {
    ProcessIdentity process;
};
struct UnwatchOwner {
    ProcessIdentity process;
};
/// The owner of these commands is gone: look for what they left behind, then say so again with the
/// answer.
struct FindLeftovers {
    struct Command {
        SessionId session_id;
        Generation generation = 0;
        Reaper reaper;
    };
    ProcessIdentity process;
    Departure departure;
    std::vector<Command> commands;
};
/// Stop those whose fate is `stopping`, then say what became of them.
struct StopLeftovers {
    SessionId session_id;
    Generation generation = 0;
    std::vector<Leftover> leftovers;
};

/// A session has ended that clients looked at, or whose turn one of them began.
struct ReleaseClients {
    SessionId session_id;
    Generation generation = 0;
};

/// A background process is on record: its end is waited for, and what it does is looked at.
struct WatchProcess {
    BackgroundProcess process;
};
/// Its exit is on record: whoever is its parent may wait for it now.
struct UnwatchProcess {
    ProcessId id;
    ProcessIdentity process;
    SessionId session_id{};  // for what it leaves running
    std::string task_id{};
};
/// It was started for a session, and may execute its program now.
struct OpenGate {
    ProcessId id;
};
/// To be stopped, with everything that is proven to belong to it.
struct StopTree {
    ProcessId id;
    ProcessIdentity process;
    std::string command;
    std::string said_by;
};

/// A turn has ended in a session in which so much was said that it is to be summarised.
struct StartCompression {
    SessionId session_id;
    Generation generation = 0;
};

using Effect = std::variant<WatchOwner, UnwatchOwner, FindLeftovers, StopLeftovers, ReleaseClients,
                            WatchProcess, UnwatchProcess, OpenGate, StopTree, StartCompression>;

}  // namespace knell
