#include "daemon/descriptors.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sys/resource.h>

namespace knell {

namespace {

constexpr std::size_t descriptors_reserved = 128;  // store, logs, hooks: never for clients

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
    const auto clients = descriptors > 2 * descriptors_reserved
                             ? (descriptors - descriptors_reserved) / 5 * 3
                             : descriptors / 2;
    const auto rest = descriptors - clients;
    return Descriptors{clients, rest - std::min(descriptors_reserved, rest / 2)};
}

}  // namespace knell
