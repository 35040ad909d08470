#include "watch/oom_evidence.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <deque>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/mutex.hpp"
#include "platform/clock.hpp"
#include "platform/fd.hpp"

namespace knell {

namespace {

using std::chrono::microseconds;

/// The pid namespace that the kernel's log speaks of, the same on every machine.
constexpr std::uint64_t first_pid_namespace = 0xEFFFFFFC;

microseconds start_of(const ProcessIdentity& process) {
    const auto ticks_a_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    return microseconds{process.start_ticks * 1'000'000 / ticks_a_second};
}

/// Surely logged before the process began: about another that had the same pid.  The log's clock
/// stands still while the host sleeps and runs a little off.
bool is_older(const OomRecord& record, const ProcessIdentity& process) {
    const auto asleep =
        std::chrono::duration_cast<microseconds>(read_clocks().steady - read_awake_clock());
    const auto drift = record.logged_at / 1000;
    return record.logged_at + drift + asleep < start_of(process);
}

}  // namespace

std::optional<OomRecord> find_oom_kill(std::string_view record, pid_t pid) {
    // "Out of memory: Killed process 123 (name) ..." and "Memory cgroup out of memory: Killed ..."
    if (record.find("ut of memory") == std::string_view::npos) return std::nullopt;
    if (record.find(fmt::format("illed process {} (", pid)) == std::string_view::npos) {
        return std::nullopt;
    }
    auto text = record.substr(std::min(record.find(';') + 1, record.size()));
    text = text.substr(0, text.find('\n'));
    std::int64_t logged_at = 0;
    const auto first = record.find(',');
    const auto second = first == std::string_view::npos ? first : record.find(',', first + 1);
    if (second != std::string_view::npos) {
        std::from_chars(record.data() + second + 1, record.data() + record.size(), logged_at);
    }
    return OomRecord{microseconds{logged_at}, text};
}

namespace {

/// The kernel log, read once and from then on only what is new: a death is looked up in
/// microseconds, not by reading the whole log again.
class KernelLog {
  public:
    std::optional<std::string> oom_kill_of(const ProcessIdentity& process) {
        const Lock lock(mutex_);
        read_news();
        std::optional<std::string> evidence;
        for (const auto& record : kills_) {
            const auto found = find_oom_kill(record, process.pid);
            if (found && !is_older(*found, process)) {
                evidence = fmt::format("kernel log: {}", found->text);
            }
        }
        return evidence;
    }

  private:
    static constexpr std::size_t kills_max = 256;

    void read_news() KNELL_REQUIRES(mutex_) {
        if (!log_) return;
        std::array<char, 8192> bytes;
        for (;;) {
            const auto got = read(log_.get(), bytes.data(), bytes.size());
            if (got < 0 && errno == EPIPE) continue;  // overwritten before we read it
            if (got <= 0) return;                     // EAGAIN: that was the newest
            const std::string_view record(bytes.data(), static_cast<std::size_t>(got));
            if (record.find("ut of memory") == std::string_view::npos) continue;
            kills_.emplace_back(record);
            if (kills_.size() > kills_max) kills_.pop_front();
        }
    }

    Mutex mutex_;
    const Fd log_{open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    std::deque<std::string> kills_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace

std::optional<std::string> oom_evidence_for(const ProcessIdentity& process) {
    static KernelLog log;
    if (process.pid_namespace != first_pid_namespace) return std::nullopt;
    return log.oom_kill_of(process);
}

}  // namespace knell
