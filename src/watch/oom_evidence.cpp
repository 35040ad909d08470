#include "watch/oom_evidence.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell {

bool tells_of_oom_kill(std::string_view record, pid_t pid) {
    // "Out of memory: Killed process 123 (name) ..." and "Memory cgroup out of memory: Killed ..."
    if (record.find("ut of memory") == std::string_view::npos) return false;
    return record.find(fmt::format("illed process {} (", pid)) != std::string_view::npos;
}

std::optional<std::string> oom_evidence_for(pid_t pid) {
    const Fd log{open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (!log) return std::nullopt;
    std::array<char, 8192> record;
    std::optional<std::string> evidence;
    for (;;) {
        const auto got = read(log.get(), record.data(), record.size());
        if (got < 0 && errno == EPIPE) continue;  // overwritten while we read: go on with the next
        if (got <= 0) return evidence;            // EAGAIN: that was the newest
        std::string_view text(record.data(), static_cast<std::size_t>(got));
        if (!tells_of_oom_kill(text, pid)) continue;
        // The pid may have been killed before under another life: the newest record counts.
        text = text.substr(std::min(text.find(';') + 1, text.size()));
        evidence = fmt::format("kernel log: {}", text.substr(0, text.find('\n')));
    }
}

}  // namespace knell
