#include "daemon/orphan_log.hpp"

#include "platform/log.hpp"

namespace knell {

void log_orphans(const StoppedOrphans& orphans, std::string_view kind) {
    for (const auto& [name, pid] : orphans.stopped) {
        log_warn("stopped process {} of {} {}: the daemon that ran it was killed meanwhile", pid,
                 kind, name);
    }
    for (const auto& [name, pid] : orphans.left_alone) {
        log_info(
            "process {}, which {} {} started under an earlier daemon, has left the {}'s process "
            "group and is left running",
            pid, kind, name, kind);
    }
}

}  // namespace knell
