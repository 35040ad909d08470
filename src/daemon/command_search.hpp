#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/leftover_thread.hpp"
#include "rpc/backend.hpp"
#include "store/store.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// Looks at the command of a session that its wrapper says is over: whether it is, who says so, and
/// what it left running.
struct CommandSearch {
    SessionId session;
    pid_t caller = 0;
    std::optional<ProcessIdentity> reaper;
    std::string socket;  // the daemon's, as cookies name it

    /// On the read thread; `done` is called there or on the thread of the leftovers.
    void run(Reader& reader, const ProcessTable& processes, LeftoverThread& leftovers,
             std::function<void(rpc::CommandEnd)> done) const;
};

}  // namespace knell
