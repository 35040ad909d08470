#include "cli/wait_status.hpp"

#include <csignal>
#include <optional>

#include "base/text.hpp"
#include "cli/exit_status.hpp"
#include "core/end.hpp"

namespace knell::cli {

namespace {

constexpr int of_signal = 128;

/// The number behind that word: "exit 3 after SIGTERM", "signal 9 (SIGKILL)".
std::optional<int> number_after(std::string_view word, std::string_view detail) {
    if (!detail.starts_with(word)) return std::nullopt;
    detail.remove_prefix(word.size());
    if (detail.empty() || detail.find_first_not_of("0123456789") == 0) return std::nullopt;
    return number_in<int>(detail);
}

}  // namespace

int wait_status(const JsonObject& ended) {
    const auto detail = wire::text_at(ended, "detail");
    const auto reason = parse_reason(wire::text_at(ended, "reason"));
    if (!reason) return exit_failed;
    switch (*reason) {
        case Reason::exited:
            return number_after("exit ", detail).value_or(exit_failed);
        case Reason::signaled:
            return of_signal + number_after("signal ", detail).value_or(SIGTERM);
        case Reason::oom_killed:
            return of_signal + SIGKILL;
        case Reason::owner_lost:
        case Reason::host_restart:
        case Reason::reaped:
        case Reason::node_lost:
        case Reason::imported:
            return exit_failed;
        case Reason::completed:
        case Reason::manual_reset:
        case Reason::auto_reset:
        case Reason::idle_expiry:
        case Reason::daily_reset:
        case Reason::detached_expiry:
        case Reason::compression:
        case Reason::branched:
        case Reason::superseded:
        case Reason::shutdown:
            return exit_done;
    }
    return exit_failed;
}

}  // namespace knell::cli
