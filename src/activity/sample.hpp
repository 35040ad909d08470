#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace knell {

/// A process of a tree, so that its pid cannot be taken for the next one's.
struct TreeMember {
    std::int32_t pid = 0;
    std::uint64_t start_ticks = 0;

    auto operator<=>(const TreeMember&) const = default;
};

/// A TCP connection of a tree.
struct TreeConnection {
    std::uint64_t mark = 0;   // stands for its two ends
    std::uint64_t bytes = 0;  // that went through it so far, either way; 0 where nobody counts them
    bool is_accepted = false;  // by one of the tree's listeners, or waits to be
    bool is_open = false;      // a closed one is remembered by the kernel for a minute
    bool has_queue = false;    // bytes wait to be read, or to be taken by the other end

    bool operator==(const TreeConnection&) const = default;
};

/// The sockets of a tree.
struct TreeSockets {
    std::vector<std::string> listens;         // "127.0.0.1:8765", "[::1]:80", "/run/a.sock"; sorted
    std::vector<TreeConnection> connections;  // by mark, each once

    bool operator==(const TreeSockets&) const = default;
};

/// What one look at a process and everything below it shows.
struct TreeSample {
    enum class Sight : std::uint8_t {
        seen,
        hidden,  // it may well be there: `unseen` says why nothing of it can be told
        gone     // proven: it has ended, or its pid is somebody else's by now
    };
    Sight sight = Sight::gone;
    /// What could not be seen, for people: "I/O cannot be read: Permission denied".
    std::vector<std::string> unseen;

    // The rest is of one that was seen.
    /// Of the tree since its beginning, with what was waited for.  Goes back when a process leaves
    /// that nobody waits for.
    std::chrono::milliseconds cpu{0};
    std::uint64_t io_bytes = 0;  // read and written, likewise; what may not be read counts as 0
    std::vector<TreeMember> members;  // sorted; the process itself is one of them
    bool has_more_members = false;    // than are looked at
    /// Was seen in the tree before and still runs, with no parent in it any more; sorted.
    std::vector<TreeMember> escaped;
    std::optional<TreeSockets> sockets;  // none: they cannot be read
    std::string terminal;                // at which one of them waits for input: "/dev/pts/3"
    bool is_runnable = false;            // one of them wants the processor at this moment
    bool is_blocked = false;             // one of them waits for a disk
    bool is_stopped = false;             // all of them are, by a signal

    bool operator==(const TreeSample&) const = default;
};

}  // namespace knell
