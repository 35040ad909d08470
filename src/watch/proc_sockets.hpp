#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "watch/process_tree.hpp"

namespace knell {

/// The sockets of a process, from /proc/<pid>/fd and /proc/<pid>/net.  Nothing when they cannot be
/// read: other users' processes, and those that hide their memory (ssh-agent).
std::optional<Sockets> read_proc_sockets(pid_t pid);

/// The parsing alone: of these sockets, does one listen in the table /proc/net/unix?
bool has_unix_listener(std::string_view table, const std::set<std::uint64_t>& own);

/// One line of /proc/net/tcp or tcp6.
struct TcpSocket {
    std::string_view local;  // address and port, as the kernel writes them
    std::string_view remote;
    bool listens = false;
    bool is_established = false;
    std::uint64_t inode = 0;
};
std::vector<TcpSocket> parse_tcp_table(std::string_view table);

/// The other ends of connections that a listener among `own` accepted; 0 for one that is not in
/// the tables.
std::vector<std::uint64_t> accepted_peers(const std::vector<TcpSocket>& sockets,
                                          const std::set<std::uint64_t>& own);

}  // namespace knell
