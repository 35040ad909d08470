#include "watch/proc_sockets.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "platform/small_file.hpp"

namespace knell {

namespace {

constexpr std::uint64_t accepts_connections = 0x10000;  // __SO_ACCEPTCON
constexpr std::string_view tcp_established = "01";
constexpr std::string_view tcp_listen = "0A";

/// Calls `visit` with the words of each line but the first, which names the columns.
template <std::size_t Count, typename Visit>
void for_each_row(std::string_view table, Visit&& visit) {
    bool is_heading = true;
    while (!table.empty()) {
        const auto line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(line.size() + 1, table.size()));
        if (std::exchange(is_heading, false)) continue;
        std::array<std::string_view, Count> words;
        auto rest = line;
        for (auto& word : words) {
            rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
            word = rest.substr(0, rest.find(' '));
            rest.remove_prefix(word.size());
        }
        visit(words);
    }
}

std::uint64_t to_number(std::string_view word, int base) {
    std::uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number, base);
    return number;
}

std::optional<std::set<std::uint64_t>> sockets_of(pid_t pid) {
    constexpr std::string_view prefix = "socket:[";
    std::set<std::uint64_t> inodes;
    std::error_code error;
    std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", pid), error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        std::error_code closed;  // meanwhile
        const auto target = std::filesystem::read_symlink(entry->path(), closed).string();
        if (closed || !target.starts_with(prefix)) continue;
        inodes.insert(to_number(std::string_view(target).substr(prefix.size()), 10));
    }
    if (error) return std::nullopt;
    return inodes;
}

/// A port is what follows the last colon.
std::string_view port_of(std::string_view address) {
    return address.substr(address.rfind(':') + 1);
}

}  // namespace

bool has_unix_listener(std::string_view table, const std::set<std::uint64_t>& own) {
    bool found = false;
    // Num RefCount Protocol Flags Type St Inode Path
    for_each_row<7>(table, [&](const auto& words) {
        found = found || ((to_number(words[3], 16) & accepts_connections) != 0 &&
                          own.contains(to_number(words[6], 10)));
    });
    return found;
}

std::vector<TcpSocket> parse_tcp_table(std::string_view table) {
    std::vector<TcpSocket> sockets;
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
    for_each_row<10>(table, [&](const auto& words) {
        sockets.push_back({.local = words[1],
                           .remote = words[2],
                           .listens = words[3] == tcp_listen,
                           .is_established = words[3] == tcp_established,
                           .inode = to_number(words[9], 10)});
    });
    return sockets;
}

std::vector<std::uint64_t> accepted_peers(const std::vector<TcpSocket>& sockets,
                                          const std::set<std::uint64_t>& own) {
    std::set<std::string_view> ports;
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> by_ends;
    for (const auto& socket : sockets) {
        if (socket.listens && own.contains(socket.inode)) ports.insert(port_of(socket.local));
        by_ends.emplace(std::pair(socket.local, socket.remote), socket.inode);
    }
    std::vector<std::uint64_t> peers;
    for (const auto& socket : sockets) {
        if (!socket.is_established || !own.contains(socket.inode)) continue;
        if (!ports.contains(port_of(socket.local))) continue;
        const auto other = by_ends.find({socket.remote, socket.local});
        peers.push_back(other == by_ends.end() ? 0 : other->second);
    }
    return peers;
}

std::optional<Sockets> read_proc_sockets(pid_t pid) {
    const auto own = sockets_of(pid);
    if (!own) return std::nullopt;
    Sockets sockets;
    sockets.own.assign(own->begin(), own->end());
    if (own->empty()) return sockets;
    const auto unix_table = read_small_file(fmt::format("/proc/{}/net/unix", pid));
    if (!unix_table) return std::nullopt;
    sockets.listens_on_unix = has_unix_listener(*unix_table, *own);
    std::vector<TcpSocket> tcp;
    const auto tcp4 = read_small_file(fmt::format("/proc/{}/net/tcp", pid)).value_or("");
    const auto tcp6 = read_small_file(fmt::format("/proc/{}/net/tcp6", pid)).value_or("");
    for (const auto* table : {&tcp4, &tcp6}) {
        std::ranges::move(parse_tcp_table(*table), std::back_inserter(tcp));
    }
    sockets.peers = accepted_peers(tcp, *own);
    return sockets;
}

}  // namespace knell
