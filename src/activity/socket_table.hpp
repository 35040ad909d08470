#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "activity/sample.hpp"

namespace knell {

/// One end of a TCP connection.
struct TcpEnd {
    std::array<std::uint8_t, 16> address{};  // one of IPv4 as ::ffff:a.b.c.d
    std::uint16_t port = 0;

    bool is_any() const;
    bool operator==(const TcpEnd&) const = default;
};
/// "127.0.0.1:8765", "[::1]:80".
std::string to_text(const TcpEnd& end);

struct TcpEntry {
    TcpEnd local;
    TcpEnd remote;
    int state = 0;            // as the kernel numbers them
    std::uint64_t inode = 0;  // 0: nobody has it open, or not yet
    std::uint64_t bytes = 0;  // TreeConnection::bytes
    bool has_queue = false;
};

/// The TCP sockets of one network namespace at one moment, and who listens on unix sockets there:
/// read once for many trees.
class SocketTable {
  public:
    void add(const TcpEntry& entry);
    void add_unix_listener(std::uint64_t inode, std::string path);

    /// Of a tree that has these sockets open.  Connections are found by the address of its
    /// listeners too: one that came and went between two looks is nobody's by now.
    TreeSockets of(const std::vector<std::uint64_t>& inodes) const;

  private:
    using Place = std::uint32_t;
    std::vector<TcpEntry> entries_;
    std::unordered_map<std::uint64_t, Place> by_inode_;
    std::unordered_map<std::uint16_t, std::vector<Place>> by_local_port_;  // but listeners
    std::unordered_map<std::uint16_t, std::vector<Place>> closed_by_remote_port_;
    std::unordered_map<std::uint64_t, std::string> unix_listeners_;
};

/// Of our own network namespace, through sock_diag(7): a hundredth of what /proc/net/tcp costs,
/// and it counts bytes.  False where the kernel does not offer it; what was added by then stays.
bool read_sock_diag(SocketTable& table);
/// From /proc/<pid>/net, of that process's namespace.  False when it cannot be read.
bool read_net_tcp(SocketTable& table, const std::string& net_folder);
bool read_net_unix(SocketTable& table, const std::string& net_folder);

/// The parsing alone: an address of /proc/net/tcp or tcp6, "0100007F:1F90".
std::optional<TcpEnd> parse_tcp_end(std::string_view text);

}  // namespace knell
