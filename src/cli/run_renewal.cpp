#include "cli/run_renewal.hpp"

#include <algorithm>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "client/connection.hpp"
#include "platform/fd.hpp"
#include "platform/pidfd.hpp"
#include "wire/json.hpp"

namespace knell::cli {

namespace {

using std::chrono::milliseconds;

/// After a renewal that nobody took: a daemon that restarts is back soon.
constexpr milliseconds retry_after{1'000};
constexpr milliseconds call_max{5'000};

enum class Renewed : std::uint8_t { yes, not_yet, never_again };

Renewed renew(const std::string& socket, const JsonObject& params) {
    const client::Deadline deadline{call_max};
    auto connection = client::Connection::open(socket, deadline);
    if (!connection) return Renewed::not_yet;
    const auto result = connection->call("session.heartbeat", params, deadline);
    const auto* object = result ? result->if_object() : nullptr;
    if (object == nullptr) return Renewed::not_yet;
    const auto* renewed = wire::array_at(*object, "renewed");
    return renewed != nullptr && !renewed->empty() ? Renewed::yes : Renewed::never_again;
}

/// Without a pidfd nothing but our parent keeps the pid from being used again.
bool has_ended(const Fd& pidfd, pid_t parent, milliseconds wait) {
    pollfd look{.fd = pidfd ? pidfd.get() : -1, .events = POLLIN, .revents = 0};
    if (::poll(&look, 1, static_cast<int>(wait.count())) > 0) return true;
    return !pidfd && ::getppid() != parent;
}

[[noreturn]] void renew_until_it_ends(pid_t command, pid_t parent, const std::string& socket,
                                      const JsonObject& params, milliseconds period) {
    const Fd pidfd{pidfd_open(command, 0)};
    auto wait = period;
    while (!has_ended(pidfd, parent, wait)) {
        const auto renewed = renew(socket, params);
        if (renewed == Renewed::never_again) break;
        wait = renewed == Renewed::yes ? period : std::min(period, retry_after);
    }
    ::_exit(0);
}

}  // namespace

void renew_while_alive(pid_t command, const std::string& socket, const SessionId& session,
                       Generation generation, milliseconds period) {
    const pid_t parent = ::getpid();
    if (::fork() != 0) return;
    ::setsid();
    // Whoever reads what the command says must not wait for us.
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    const JsonObject params{{"session_id", session.text()}, {"generation", generation}};
    renew_until_it_ends(command, parent, socket, params, period);
}

}  // namespace knell::cli
