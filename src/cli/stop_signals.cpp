#include "cli/stop_signals.hpp"

#include <array>
#include <csignal>
#include <filesystem>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "client/connect.hpp"
#include "client/directory_watch.hpp"

namespace knell::cli {

namespace {

using namespace std::chrono_literals;

/// A socket is there a moment before anybody listens, and only its making can be watched.
constexpr auto look_again_after = 250ms;

}  // namespace

StopSignals::StopSignals() {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigprocmask(SIG_BLOCK, &stops, nullptr);
    fd_ = Fd{signalfd(-1, &stops, SFD_CLOEXEC)};
}

Woken StopSignals::wait_for(int fd, std::optional<std::chrono::milliseconds> wait_max) const {
    std::array<pollfd, 3> watched{{{.fd = fd, .events = POLLIN, .revents = 0},
                                   {.fd = fd_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = STDOUT_FILENO, .events = 0, .revents = 0}}};
    const int millis = wait_max ? static_cast<int>(wait_max->count()) : -1;
    const int count = ::poll(watched.data(), watched.size(), millis);
    if (watched[1].revents != 0 || watched[2].revents != 0) return Woken::told_to_stop;
    return count > 0 ? Woken::ready : Woken::timed_out;
}

bool may_come_back(const Error& error) {
    return error.code == ErrorCode::unreachable || error.code == ErrorCode::limit;
}

std::optional<client::Connection> wait_until_reachable(const Paths& paths,
                                                       const StopSignals& stop) {
    client::DirectoryWatch watch(std::filesystem::path(paths.socket).parent_path().string());
    for (;;) {
        if (auto connection = client::connect(paths)) return std::move(*connection);
        if (stop.wait_for(watch.fd(), look_again_after) == Woken::told_to_stop) return {};
        watch.clear();
    }
}

}  // namespace knell::cli
