#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "core/owner.hpp"

namespace knell {

/// The kernel's own word that it killed this process because memory ran out, from its log; nothing
/// where the log says nothing or may not be read.
std::optional<std::string> oom_evidence_for(const ProcessIdentity& process);

/// The search alone, in one record of the kernel log ("6,339,5140900,-;text").
struct OomRecord {
    std::chrono::microseconds logged_at{0};  // after boot, without the time the host was asleep
    std::string_view text;
};
std::optional<OomRecord> find_oom_kill(std::string_view record, pid_t pid);

}  // namespace knell
