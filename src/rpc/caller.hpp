#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "core/owner.hpp"

namespace knell::rpc {

/// One connection of a client, for as long as the daemon runs.
enum class ConnectionId : std::uint64_t { none = 0 };  // none: the daemon itself asks

/// Who is at the other end, as the kernel tells.
struct Caller {
    pid_t pid = 0;  // 0: not visible from here (another pid namespace)
    uid_t uid = 0;
    std::optional<ProcessIdentity> process;  // proven to be the one that connected
    std::uint64_t pid_namespace = 0;         // where it counts pids; 0: that cannot be told
    ConnectionId connection = ConnectionId::none;

    /// For evidence: "process 4242 (uid 1000)".
    std::string describe() const;
};

}  // namespace knell::rpc
