#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/names.hpp"

namespace knell {

/// A hosted session is kept by the daemon itself, for clients that come and go.
enum class OwnerKind : std::uint8_t { process, lease, hosted };
inline constexpr std::array<std::string_view, 3> owner_kind_names{"process", "lease", "hosted"};

/// What happens to a session when its owner is gone: it ends, or waits a while for the next one.
enum class OnOwnerLoss : std::uint8_t { end, park };
inline constexpr std::array<std::string_view, 2> on_owner_loss_names{"end", "park"};

/// A process that cannot be mistaken for another: a pid alone is reused, with its start ticks, boot
/// and namespace it is not.
struct ProcessIdentity {
    std::int32_t pid = 0;
    std::uint64_t start_ticks = 0;  // /proc/<pid>/stat field 22: since boot, untouched by the clock
    std::uint64_t pid_namespace = 0;
    std::string boot_id;

    bool operator==(const ProcessIdentity&) const = default;
};

/// For the record: one a line.
std::string to_lines(const std::vector<ProcessIdentity>& processes);
std::vector<ProcessIdentity> processes_from_lines(std::string_view lines);

/// The `knell run` around a command, to which the kernel hands the command's orphans.  Known only
/// to the daemon that it spoke to, so boot and namespace go without saying.
struct Reaper {
    std::int32_t pid = 0;  // 0: there is none
    std::uint64_t start_ticks = 0;

    bool operator==(const Reaper&) const = default;
};

/// What keeps a session alive.  A process may hold a lease as well: then the lease says whether it
/// makes progress, and only the process whether it lives.
struct Owner {
    OwnerKind kind = OwnerKind::process;
    /// kind == process.  Of a lease: the process it stands for, which could not be seen from here,
    /// by its name in its own namespace (pid 0: it stands for none).
    ProcessIdentity process;
    /// 0: no lease.  Of a hosted session: how long it is kept when nothing holds it any more.
    std::chrono::seconds lease_ttl{0};
    std::string host;
    WallTime since;
    std::string command{};  // what runs, as whoever opened the session says

    bool operator==(const Owner&) const = default;
};

}  // namespace knell
