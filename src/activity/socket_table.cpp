#include "activity/socket_table.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <set>
#include <span>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

// The kernel's TCP_ESTABLISHED and so on, which <netinet/tcp.h> and <linux/tcp.h> both define.
constexpr int tcp_established = 1;
constexpr int tcp_time_wait = 6;
constexpr int tcp_close_wait = 8;
constexpr int tcp_listen = 10;

constexpr std::uint64_t accepts_connections = 0x10000;  // __SO_ACCEPTCON
/// Of one tree: a load test makes tens of thousands, and a few thousand say as much.
constexpr std::size_t connections_max = 4096;

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_v4(const TcpEnd& end) {
    return std::ranges::equal(std::span(end.address).first<12>(), v4_prefix);
}

/// The same from either side of a connection, so that on the loopback both are one.
std::uint64_t mark_of(const TcpEnd& server, const TcpEnd& client) {
    constexpr std::uint64_t fnv_prime = 0x100000001b3;
    std::uint64_t mark = 0xcbf29ce484222325;
    const auto mix = [&](std::uint64_t value) { mark = (mark ^ value) * fnv_prime; };
    for (const auto* end : {&server, &client}) {
        for (const auto byte : end->address) mix(byte);
        mix(end->port);
    }
    return mark;
}

std::uint64_t number_of(std::string_view word, int base) {
    std::uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number, base);
    return number;
}

std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return take_field(line, ' ');
}

void add_tcp_lines(SocketTable& table, std::string_view lines) {
    take_field(lines, '\n');  // names the columns
    while (!lines.empty()) {
        auto line = take_field(lines, '\n');
        next_word(line);  // its number
        const auto local = parse_tcp_end(next_word(line));
        const auto remote = parse_tcp_end(next_word(line));
        if (!local || !remote) continue;
        TcpEntry entry{.local = *local, .remote = *remote};
        entry.state = static_cast<int>(number_of(next_word(line), 16));
        entry.has_queue = next_word(line) != "00000000:00000000";
        for (int word = 5; word < 9; ++word) next_word(line);  // timer, retransmits, uid, timeout
        entry.inode = number_of(next_word(line), 10);
        table.add(entry);
    }
}

}  // namespace

bool TcpEnd::is_any() const {
    const auto last = std::span(address).last<4>();
    const bool is_zero = std::ranges::all_of(last, [](auto byte) { return byte == 0; });
    return is_zero && (is_v4(*this) || std::ranges::all_of(std::span(address).first<12>(),
                                                           [](auto byte) { return byte == 0; }));
}

std::string to_text(const TcpEnd& end) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_v4(end)) {
        inet_ntop(AF_INET, end.address.data() + v4_prefix.size(), text.data(), text.size());
        return fmt::format("{}:{}", text.data(), end.port);
    }
    inet_ntop(AF_INET6, end.address.data(), text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), end.port);
}

std::optional<TcpEnd> parse_tcp_end(std::string_view text) {
    constexpr std::size_t word_digits = 8;  // four bytes in the order of this machine
    const auto colon = text.find(':');
    if (colon != word_digits && colon != 4 * word_digits) return std::nullopt;
    TcpEnd end;
    auto* to = end.address.data();
    if (colon == word_digits) to = std::ranges::copy(v4_prefix, to).out;
    for (std::size_t at = 0; at < colon; at += word_digits) {
        const auto word = static_cast<std::uint32_t>(number_of(text.substr(at, word_digits), 16));
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
    }
    end.port = static_cast<std::uint16_t>(number_of(text.substr(colon + 1), 16));
    return end;
}

void SocketTable::add(const TcpEntry& entry) {
    const auto place = static_cast<Place>(entries_.size());
    entries_.push_back(entry);
    if (entry.inode != 0) by_inode_.emplace(entry.inode, place);
    if (entry.state == tcp_listen) return;
    by_local_port_[entry.local.port].push_back(place);
    if (entry.state == tcp_time_wait) closed_by_remote_port_[entry.remote.port].push_back(place);
}

void SocketTable::add_unix_listener(std::uint64_t inode, std::string path) {
    unix_listeners_.emplace(inode, std::move(path));
}

TreeSockets SocketTable::of(const std::vector<std::uint64_t>& inodes) const {
    TreeSockets found;
    std::vector<const TcpEntry*> listeners;
    std::vector<const TcpEntry*> others;
    std::set<std::string> listens;
    for (const auto inode : inodes) {
        if (const auto path = unix_listeners_.find(inode); path != unix_listeners_.end()) {
            listens.insert(path->second);
        }
        const auto place = by_inode_.find(inode);
        if (place == by_inode_.end()) continue;
        const auto& entry = entries_.at(place->second);
        (entry.state == tcp_listen ? listeners : others).push_back(&entry);
        if (entry.state == tcp_listen) listens.insert(to_text(entry.local));
    }
    found.listens.assign(listens.begin(), listens.end());

    const auto take = [&](const TcpEntry& entry, const TcpEnd& server, const TcpEnd& client,
                          bool is_accepted) {
        if (found.connections.size() >= connections_max) return;
        found.connections.push_back(
            {.mark = mark_of(server, client),
             .bytes = entry.bytes,
             .is_accepted = is_accepted,
             .is_open = entry.state == tcp_established || entry.state == tcp_close_wait,
             .has_queue = entry.has_queue});
    };
    const auto serves = [](const TcpEnd& listener, const TcpEnd& server) {
        return listener.is_any() || listener.address == server.address;
    };
    std::set<std::uint16_t> ports;
    for (const auto* listener : listeners) {
        const auto& local = listener->local;
        ports.insert(local.port);
        if (const auto at = by_local_port_.find(local.port); at != by_local_port_.end()) {
            for (const auto place : at->second) {
                const auto& entry = entries_.at(place);
                if (serves(local, entry.local)) {
                    take(entry, entry.local, entry.remote, /*is_accepted=*/true);
                }
            }
        }
        // The client closed first, and it was on this machine: its side is the one remembered.
        const auto closed = closed_by_remote_port_.find(local.port);
        if (closed == closed_by_remote_port_.end()) continue;
        for (const auto place : closed->second) {
            const auto& entry = entries_.at(place);
            if (serves(local, entry.remote) && entry.remote.address == entry.local.address) {
                take(entry, entry.remote, entry.local, /*is_accepted=*/true);
            }
        }
    }
    for (const auto* entry : others) {
        if (!ports.contains(entry->local.port)) {
            take(*entry, entry->remote, entry->local, /*is_accepted=*/false);
        }
    }
    // An open one before its closed twin.
    std::ranges::sort(found.connections, [](const TreeConnection& a, const TreeConnection& b) {
        return std::pair(a.mark, !a.is_open) < std::pair(b.mark, !b.is_open);
    });
    const auto twins = std::ranges::unique(found.connections, {}, &TreeConnection::mark);
    found.connections.erase(twins.begin(), twins.end());
    return found;
}

bool read_net_tcp(SocketTable& table, const std::string& net_folder) {
    const auto tcp4 = read_small_file(net_folder + "/tcp");
    if (!tcp4) return false;
    add_tcp_lines(table, *tcp4);
    // Missing where IPv6 is switched off.
    if (const auto tcp6 = read_small_file(net_folder + "/tcp6")) add_tcp_lines(table, *tcp6);
    return true;
}

bool read_net_unix(SocketTable& table, const std::string& net_folder) {
    const auto text = read_small_file(net_folder + "/unix");
    if (!text) return false;
    std::string_view lines(*text);
    take_field(lines, '\n');  // Num RefCount Protocol Flags Type St Inode Path
    while (!lines.empty()) {
        auto line = take_field(lines, '\n');
        for (int word = 0; word < 3; ++word) next_word(line);
        if ((number_of(next_word(line), 16) & accepts_connections) == 0) continue;
        for (int word = 4; word < 6; ++word) next_word(line);
        const auto inode = number_of(next_word(line), 10);
        table.add_unix_listener(inode, line.empty() ? "a unix socket" : std::string(line));
    }
    return true;
}

}  // namespace knell
