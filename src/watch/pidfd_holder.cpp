#include "watch/pidfd_holder.hpp"

#include <cerrno>
#include <set>

#include "platform/fd.hpp"
#include "platform/proc_status.hpp"

namespace knell {

namespace {

class HeldByPidfd final : public HeldProcess {
  public:
    HeldByPidfd(Fd pidfd, pid_t pid, const ProcessCalls& calls)
        : pidfd_(std::move(pidfd)), pid_(pid), calls_(calls) {}
    bool has_ended() const override { return calls_.poll_pidfd(pidfd_.get()) > 0; }
    int signal(int number) override {
        return calls_.send_signal(pidfd_.get(), number) == 0 ? 0 : errno;
    }
    std::optional<uid_t> uid() const override {
        const auto status = read_proc_status(pid_);
        // Of one that has ended meanwhile the number may be another's.
        return status && !has_ended() ? status->uid : std::nullopt;
    }

  private:
    Fd pidfd_;
    const pid_t pid_;
    const ProcessCalls& calls_;
};

}  // namespace

std::expected<std::unique_ptr<HeldProcess>, NotHeld> PidfdHolder::hold(
    const ProcessIdentity& process) const {
    if (process.boot_id.empty()) return std::unexpected(NotHeld::unreachable);
    if (process.boot_id != tree_.boot_id()) return std::unexpected(NotHeld::gone);
    if (process.pid_namespace != tree_.pid_namespace()) {
        return std::unexpected(NotHeld::unreachable);
    }
    Fd pidfd{calls_.pidfd_open(process.pid)};
    if (!pidfd) return std::unexpected(errno == ESRCH ? NotHeld::gone : NotHeld::unreachable);
    auto held = std::make_unique<HeldByPidfd>(std::move(pidfd), process.pid, calls_);
    // Whoever has this start now had it when the descriptor was made, and has it for good.
    const auto found = tree_.stat(process.pid);
    if (!found) return std::unexpected(held->has_ended() ? NotHeld::gone : NotHeld::unreachable);
    if (found->start_ticks != process.start_ticks) return std::unexpected(NotHeld::gone);
    return held;
}

bool PidfdHolder::is_spared(const ProcessIdentity& process) const {
    std::vector<pid_t> left{process.pid};
    std::set<pid_t> seen;
    while (!left.empty()) {
        const auto pid = left.back();
        left.pop_back();
        if (!seen.insert(pid).second) continue;
        const auto stat = tree_.stat(pid);
        if (!stat) continue;
        if (owners_.contains(tree_.identity(pid, *stat))) return true;
        for (const auto child : tree_.children(pid).value_or(std::vector<pid_t>{})) {
            left.push_back(child);
        }
    }
    return false;
}

}  // namespace knell
