#pragma once

#include <sys/types.h>

#include <string>

namespace knell::rpc {

/// Who is at the other end, as the kernel tells.
struct Caller {
    pid_t pid = 0;  // 0: not visible from here (another pid namespace)
    uid_t uid = 0;

    /// For evidence: "process 4242 (uid 1000)".
    std::string describe() const;
};

}  // namespace knell::rpc
