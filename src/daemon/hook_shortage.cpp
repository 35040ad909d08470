#include "daemon/hook_shortage.hpp"

#include <fmt/format.h>

#include "platform/log.hpp"

namespace knell {

void HookShortage::tell(const std::string& now, std::size_t waiting) {
    bool was_short = false;
    {
        const Lock lock(mutex_);
        was_short = !text_.empty();
        text_ = now.empty() ? ""
                            : fmt::format(
                                  "hooks wait to be started ({} in all): {}. It is tried "
                                  "again every second",
                                  waiting, now);
    }
    if (was_short == !now.empty()) return;
    if (now.empty()) {
        log_info("hooks are started again");
    } else {
        log_warn(
            "a hook cannot be started now: {}; it is tried again every second and counts as no "
            "failure. Close what holds too many files or processes, or raise the daemon's limits "
            "(ulimit -n, ulimit -u)",
            now);
    }
}

std::string HookShortage::text() const {
    const Lock lock(mutex_);
    return text_;
}

}  // namespace knell
