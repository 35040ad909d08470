#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace knell {

/// The kernel's own word that it killed this process because memory ran out, from its log; nothing
/// where the log says nothing or may not be read.
std::optional<std::string> oom_evidence_for(pid_t pid);

/// The search alone: in one record of the kernel log.
bool tells_of_oom_kill(std::string_view record, pid_t pid);

}  // namespace knell
