#include "daemon/leftover_log.hpp"

#include "core/names.hpp"
#include "platform/log.hpp"

namespace knell {

void log_stopping(const StopLeftovers& order) {
    for (const auto& leftover : order.leftovers) {
        if (leftover.fate != Fate::stopping) continue;
        log_info("stopping process {} ({}), left behind by session {}: {}", leftover.process.pid,
                 leftover.command, order.session_id.text(), leftover.found_by);
    }
}

void log_fates(const StopOrder& order) {
    for (const auto& leftover : order.leftovers) {
        log_info("process {} ({}), left behind by session {}: {}", leftover.process.pid,
                 leftover.command, order.session_id.text(), name_in(fate_names, leftover.fate));
    }
}

void log_stopped(const TreeStopper::Stopped& tree) {
    log_info("background process {} (pid {}) and what belongs to it: {}{}{}", tree.root.id.text(),
             tree.root.process.pid, name_in(fate_names, tree.fate), tree.left.empty() ? "" : ": ",
             tree.left);
}

}  // namespace knell
