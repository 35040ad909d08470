#include "daemon/descriptors.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/resource.h>

namespace knell {

namespace {

/// Store, locks, log, sockets, threads: 38 at rest, and some to read files with.
constexpr std::size_t for_itself = 42;
/// What it takes to look at all that a hook runs and to start it, one hook after the other.
constexpr std::size_t to_start_a_hook = 16;
constexpr std::size_t of_a_running_hook = 2;  // its process and its output
constexpr std::size_t hooks_min = 2;
/// More of them at once only get in each other's way; their descriptors are better used for
/// clients.
constexpr std::size_t hooks_enough = 256;
constexpr std::size_t webhooks_enough = 512;
/// Of owners and background processes: where there are many descriptors, most are for clients.
constexpr std::size_t pidfds_enough = 3'072;

}  // namespace

Result<Descriptors> raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    const auto descriptors = static_cast<std::size_t>(limit.rlim_cur);
    if (descriptors < descriptors_min) {
        return fail(ErrorCode::limit,
                    fmt::format("only {} files may be open at once, and knell needs {}. Raise the "
                                "limit of whoever starts it, for example: ulimit -n 1024",
                                descriptors, descriptors_min));
    }
    static_assert(descriptors_min > for_itself + to_start_a_hook + hooks_min * of_a_running_hook);
    const auto shared = descriptors - for_itself - to_start_a_hook;
    const auto hooks = std::clamp(shared / 8 / of_a_running_hook, hooks_min, hooks_enough);
    // Nobody counts these: they are tried again.
    const auto webhooks = std::min(shared / 8, webhooks_enough);
    const auto rest = shared - hooks * of_a_running_hook - webhooks;
    const auto pidfds = std::max(std::min(rest / 5 * 2, pidfds_enough), rest / 6);
    const auto processes = pidfds / 4;
    return Descriptors{.clients_max = rest - pidfds,
                       .owners_max = pidfds - processes,
                       .processes_max = processes,
                       .hooks_max = hooks};
}

}  // namespace knell
