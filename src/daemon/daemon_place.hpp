#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "watch/process_table.hpp"

namespace knell {

/// Where a daemon runs: its pid in which namespace of which boot.
struct DaemonPlace {
    pid_t pid = 0;
    std::uint64_t pid_namespace = 0;
    std::string boot_id;
};

/// Writes where this daemon runs to `path` and gives the namespace that is over because the daemon
/// before this one is: it was the first process of it, as in a container, and with its first
/// process the kernel ends every other.  Nothing when that cannot be said.
///
/// The caller holds the lock of this store, which that daemon held until it ended.
std::optional<std::uint64_t> take_place(const std::string& path, const DaemonPlace& ours);

/// The conclusion alone.
std::optional<std::uint64_t> ended_namespace(const std::optional<DaemonPlace>& before,
                                             const DaemonPlace& ours);

/// Before the owners on record are looked at: some may have lived in a container that is over.
void note_place(const std::string& path, ProcTable& processes);

std::string to_text(const DaemonPlace& place);
std::optional<DaemonPlace> parse_daemon_place(std::string_view text);

}  // namespace knell
