#include "cli/run_renewal.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output.hpp"
#include "client/connection.hpp"
#include "platform/clock.hpp"
#include "platform/fd.hpp"
#include "platform/pidfd.hpp"
#include "wire/json.hpp"

namespace knell::cli {

namespace {

using std::chrono::milliseconds;

/// After a renewal that nobody took: a daemon that restarts is back soon.
constexpr milliseconds retry_after{1'000};
constexpr milliseconds call_max{5'000};
constexpr milliseconds period = unseen_lease_ttl / 3;

/// Between two processes that renew, if the first was killed so soon; also between two attempts to
/// open the session again.
constexpr milliseconds again_after{1'000};

/// Exit statuses of the process that renews.
constexpr int command_ended = 0;
constexpr int session_ended = 1;
constexpr int session_taken = 2;

enum class Renewed : std::uint8_t { yes, not_yet, ended, taken };

bool has_one(const JsonObject& object, std::string_view list) {
    const auto* ids = wire::array_at(object, list);
    return ids != nullptr && !ids->empty();
}

Renewed renew(const std::string& socket, const JsonObject& params) {
    const client::Deadline deadline{call_max};
    auto connection = client::Connection::open(socket, deadline);
    if (!connection) return Renewed::not_yet;
    const auto result = connection->call("session.heartbeat", params, deadline);
    const auto* object = result ? result->if_object() : nullptr;
    if (object == nullptr) return Renewed::not_yet;
    if (has_one(*object, "renewed")) return Renewed::yes;
    return has_one(*object, "ended") ? Renewed::ended : Renewed::taken;
}

/// Without a pidfd nothing but our parent keeps the pid from being used again.
bool has_ended(const Fd& pidfd, pid_t parent, milliseconds wait) {
    pollfd look{.fd = pidfd ? pidfd.get() : -1, .events = POLLIN, .revents = 0};
    if (::poll(&look, 1, static_cast<int>(wait.count())) > 0) return true;
    return !pidfd && ::getppid() != parent;
}

/// The process that renews; `wait` is that before the first renewal.  Its own answer to a session
/// that was reaped counts only where nobody waits for it any more.
[[noreturn]] void renew_until_it_ends(pid_t command, pid_t parent, const std::string& socket,
                                      RunSession& session, milliseconds wait) {
    const Fd pidfd{pidfd_open(command, 0)};
    bool is_reaped = false;
    while (!has_ended(pidfd, parent, wait)) {
        if (is_reaped) {
            const auto reopened = session.open_again_if_reaped(command);
            if (reopened == Reopened::no) ::_exit(session_ended);
            is_reaped = reopened == Reopened::not_yet;
            wait = is_reaped ? again_after : period;
            continue;
        }
        const auto renewed = renew(
            socket, {{"session_id", session.id().text()}, {"generation", session.generation()}});
        if (renewed == Renewed::taken) ::_exit(session_taken);
        if (renewed == Renewed::ended && ::getppid() == parent) ::_exit(session_ended);
        is_reaped = renewed == Renewed::ended;
        wait = renewed == Renewed::yes ? period : std::min(period, retry_after);
    }
    ::_exit(command_ended);
}

milliseconds from(SteadyTime now, SteadyTime due) {
    // Rounded up, or the last part of a millisecond would be spun through.
    return std::max(std::chrono::ceil<milliseconds>(due - now), milliseconds{0});
}

}  // namespace

std::optional<milliseconds> LeaseRenewal::tend() {
    if (state_ == State::renewing) look();
    const auto now = read_clocks().steady;
    if (state_ == State::reopening && now >= due_) reopen(now);
    if (state_ == State::waiting && now >= due_) start(now);
    const bool is_timed = state_ == State::waiting || state_ == State::reopening;
    return is_timed ? std::optional(from(now, due_)) : std::nullopt;
}

void LeaseRenewal::look() {
    int status = 0;
    const pid_t found = ::waitpid(pid_, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) return;
    const auto now = read_clocks().steady;
    // Whoever else has waited for it, with all our orphans, did not look at the status.
    const int code = found == pid_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    due_ = now;
    if (code == command_ended || code == session_taken) {
        state_ = State::over;
    } else if (code == session_ended) {
        state_ = State::reopening;
    } else {
        state_ = State::waiting;
        const bool was_short = now - started_at_ < again_after;
        if (was_short) due_ = now + again_after;
        // Once for a series of them.
        if (!was_short || !died_soon_) {
            complain("run", fmt::format("process {}, which renewed the lease of session {}, was "
                                        "killed; another one goes on",
                                        pid_, session_.id().text()));
        }
        died_soon_ = was_short;
    }
}

void LeaseRenewal::start(SteadyTime now) {
    const pid_t parent = ::getpid();
    // How much is left of the lease is not known to a later one.
    const auto wait = is_first_ ? period : milliseconds{0};
    started_at_ = now;
    pid_ = ::fork();
    if (pid_ == 0) {
        ::setsid();
        // Whoever reads what the command says must not wait for us.
        const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
        ::close_range(STDERR_FILENO + 1, ~0U, 0);
        renew_until_it_ends(command_, parent, socket_, session_, wait);
    }
    if (pid_ < 0) {
        due_ = now + again_after;
        return;
    }
    state_ = State::renewing;
    is_first_ = false;
}

void LeaseRenewal::reopen(SteadyTime now) {
    switch (session_.open_again_if_reaped(command_)) {
        case Reopened::yes:
            state_ = State::waiting;
            is_first_ = true;
            due_ = now;
            break;
        case Reopened::not_yet:
            due_ = now + again_after;
            break;
        case Reopened::no:
            state_ = State::over;
            break;
    }
}

}  // namespace knell::cli
