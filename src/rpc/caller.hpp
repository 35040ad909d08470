#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <sys/types.h>

#include "core/ids.hpp"
#include "core/owner.hpp"

namespace knell::rpc {

using ConnectionId = ClientId;  // none: the daemon itself asks

/// A process on the unix socket, as the kernel tells.
struct UnixPeer {
    pid_t pid = 0;  // 0: not visible from here (another pid namespace)
    uid_t uid = 0;
    std::optional<ProcessIdentity> process;  // proven to be the one that connected
    std::uint64_t pid_namespace = 0;         // where it counts pids; 0: that cannot be told
};

/// What a method needs and a client has; each allows what those before it do.
enum class Access : std::uint8_t {
    read_only,  // changes nothing
    full,       // changes what is on record
    processes,  // starts programs, or changes which ones are started
};

/// Somebody on HTTP: known by a token, and no process that could own a session or be looked at.
struct HttpClient {
    std::string address;  // "127.0.0.1:41234"
    Access access = Access::read_only;
};

/// A `knell run` that wrote its call down while no daemon could be reached.
struct Spooled {};

/// Who makes a call.
struct Caller {
    std::variant<UnixPeer, HttpClient, Spooled> who;
    ConnectionId connection = ConnectionId::none;

    /// The process that calls.  Only the kernel's word counts, so only a unix peer has one.
    std::optional<ProcessIdentity> process() const;
    pid_t pid() const;                    // 0: not visible from here, or no process
    std::uint64_t pid_namespace() const;  // where it counts pids; 0: that cannot be told

    /// For evidence: "process 4242 (uid 1000)".
    std::string describe() const;

    /// A process on the unix socket may do everything: it is ours or root's.
    Access access() const;
};

}  // namespace knell::rpc
